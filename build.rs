//! Linking of the program where it is only tested.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The suite starts the program tens of thousands of times. At a fixed place it needs none of the third of a million
    // relocations that are otherwise made at each start.
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|held| held == value);
    if is("PROFILE", "debug") && is("TARGET", "x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
