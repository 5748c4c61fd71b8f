use super::*;

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

#[test]
fn questions_name_days_months_and_years() {
    let asks = |year, month, day| vec![Asked { year, month, day }];
    for (text, expected) in [
        ("What happened on 7 May 2023?", asks(Some(2023), Some(5), Some(7))),
        ("on May 7th, 2023", asks(Some(2023), Some(5), Some(7))),
        ("in the summer of August 2022", asks(Some(2022), Some(8), None)),
        ("by 2023-05-07", asks(Some(2023), Some(5), Some(7))),
        ("le 13/05/2023", asks(Some(2023), Some(5), Some(13))),
        ("on 5/13/2023", asks(Some(2023), Some(5), Some(13))),
        ("Qui est né le 1er août ?", asks(None, Some(8), Some(1))),
        ("en mars 2024", asks(Some(2024), Some(3), None)),
        ("2024年8月12日に", asks(Some(2024), Some(8), Some(12))),
        ("２０２４年８月", asks(Some(2024), Some(8), None)),
        ("12月に", asks(None, Some(12), None)),
        ("what did she do in 2022", asks(Some(2022), None, None)),
        ("in May", asks(None, Some(5), None)),
        ("in mid-2024", asks(Some(2024), None, None)),
        ("INV-2024-003 and order_2024", vec![]),
        ("You may march on", vec![]),
        ("It cost 2,023 euros or 12345", vec![]),
        ("when was it?", vec![]),
    ] {
        assert_eq!(asked(text), expected, "{text}");
    }
}

#[test]
fn texts_name_periods_from_the_day_they_are_said_on() {
    let said = date("2023-05-10");
    for (text, first, last) in [
        ("I went there yesterday.", "2023-05-09", "2023-05-09"),
        ("We met last week", "2023-05-01", "2023-05-07"),
        ("last Friday we", "2023-05-05", "2023-05-05"),
        ("two months ago", "2023-03-01", "2023-03-31"),
        ("3 days ago", "2023-05-07", "2023-05-07"),
        ("next month", "2023-06-01", "2023-06-30"),
        ("last weekend", "2023-05-06", "2023-05-07"),
        ("on 28 December", "2022-12-28", "2022-12-28"),
        ("hier soir", "2023-05-09", "2023-05-09"),
        ("la semaine dernière", "2023-05-01", "2023-05-07"),
        ("samedi prochain", "2023-05-13", "2023-05-13"),
        ("il y a deux ans", "2021-01-01", "2021-12-31"),
        ("昨日は雨でした", "2023-05-09", "2023-05-09"),
        ("一昨日は雨でした", "2023-05-08", "2023-05-08"),
        ("先週、引っ越した", "2023-05-01", "2023-05-07"),
        ("三日前に", "2023-05-07", "2023-05-07"),
        ("来年の春", "2024-01-01", "2024-12-31"),
    ] {
        assert_eq!(periods(text, said), [Period { first: date(first), last: date(last) }], "{text}");
    }
    assert_eq!(periods("nothing of that kind, at last", said), []);
}

#[test]
fn what_is_asked_meets_what_is_said() {
    let may = Asked { year: None, month: Some(5), day: None };
    let period = |first, last| Period { first: date(first), last: date(last) };
    assert!(may.meets(&period("2023-05-31", "2023-05-31")));
    assert!(may.meets(&period("2023-04-28", "2023-05-04")), "a week that reaches into it");
    assert!(!may.meets(&period("2023-04-01", "2023-04-30")));
    assert!(!may.meets(&period("2020-01-01", "2020-12-31")), "a year means no month that is asked for without one");
    let of_any = Asked { year: None, month: Some(11), day: Some(19) };
    assert!(!of_any.meets(&period("2020-01-01", "2020-12-31")) && of_any.meets(&period("2020-11-01", "2020-11-30")));
    let in_it = Asked { year: Some(2020), month: Some(11), day: None };
    assert!(in_it.meets(&period("2020-01-01", "2020-12-31")));
    let day = Asked { year: Some(2023), month: Some(5), day: Some(7) };
    assert!(day.meets(&period("2023-05-01", "2023-05-07")) && !day.meets(&period("2023-05-08", "2023-05-08")));
}

#[test]
fn hostile_texts_end() {
    for text in [
        "9".repeat(4000),
        "31/12/".repeat(500),
        "last ".repeat(800),
        "年月日".repeat(400),
        "9999-12-31 tomorrow".into(),
    ] {
        let _ = (asked(&text), periods(&text, date("9999-12-31")), periods(&text, date("-009999-01-01")));
    }
}
