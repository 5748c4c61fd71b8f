//! The names of this machine. Owns that no network is asked for them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

use super::read_bounded;
use crate::limits;

/// Whether a host is this machine: its own name, or a name or address that `/etc/hosts` gives it.
pub fn is_own_host(host: &str) -> bool {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let hosts = read_bounded(Path::new("/etc/hosts"), limits::HOSTS_BYTES).unwrap_or_default();
    is_own(host, &name, &String::from_utf8_lossy(&hosts))
}

/// The same by a name and the lines of such a file. Addresses are this machine's that lead back to it, and those of its name.
fn is_own(host: &str, own: &str, hosts: &str) -> bool {
    let same = |one: &str, other: &str| one.trim_end_matches('.').eq_ignore_ascii_case(other.trim_end_matches('.'));
    let lines: Vec<(IpAddr, Vec<&str>)> = hosts
        .lines()
        .filter_map(|line| {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            Some((words.next()?.parse::<IpAddr>().ok()?.to_canonical(), words.collect()))
        })
        .collect();
    let has = |names: &[&str], host: &str| names.iter().any(|name| same(name, host));
    let is_here = |address: &IpAddr, names: &[&str]| {
        address.is_loopback() || address.is_unspecified() || !own.is_empty() && has(names, own)
    };
    let addresses: BTreeSet<IpAddr> =
        lines.iter().filter(|(address, names)| is_here(address, names)).map(|(address, _)| *address).collect();
    match host.parse::<IpAddr>() {
        Ok(address) => addresses.contains(&address.to_canonical()),
        Err(_) => {
            !own.is_empty() && same(host, own)
                || lines.iter().any(|(address, names)| addresses.contains(address) && has(names, host))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_to_this_machine_are_its_own() {
        let hosts = "127.0.0.1 localhost\n127.0.1.1\tbox.example Box # old\n::1 ip6-localhost\n192.0.2.7 box lan\n192.0.2.9 far\nodd\n";
        for host in ["box", "BOX.", "box.example", "ip6-localhost", "lan", "192.0.2.7", "::ffff:192.0.2.7"] {
            assert!(is_own(host, "box", hosts), "{host}");
        }
        for host in ["far", "192.0.2.9", "old", "odd", "", "api.example"] {
            assert!(!is_own(host, "box", hosts), "{host}");
        }
        assert!(is_own("box", "box", "") && !is_own("", "", "") && !is_own("lan", "other", hosts));
    }
}
