use super::*;

#[test]
fn an_answer_says_what_became_of_a_run() {
    let id = |digit: &str| CommitId::parse(&digit.repeat(40)).unwrap();
    let fates = [
        Fate::Merged { commit: id("a"), decisions: Vec::new() },
        Fate::Already,
        Fate::Conflict(Vec::new()),
        Fate::Refused("it touches brain.toml".to_owned()),
    ];
    for fate in fates {
        let landed = Landed { fate, wake: id("b") };
        let told = landed.told();
        assert_eq!(Landed::read(&told).as_ref(), Some(&landed));
        assert_eq!(Landed::read(&told[..told.len() - 1]), None, "cut off");
    }
    assert_eq!(Landed::read(b""), None);
}
