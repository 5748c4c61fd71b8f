//! Words against something: negation, failure and refusal in English, French and Japanese.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::text;

/// Words that speak against something; inflected forms are found by their stems.
const WORDS: &str = "not no never none nothing nowhere neither nor without cannot hardly \
                     refuse reject deny ban bans banned forbid forbade forbidden prohibit prohibited block oppose against disapprove disallow veto decline avoid prevent abandon \
                     cancel revoke unable impossible unsafe unacceptable illegal mistake disaster \
                     fail failed fails failing failure break broke broken breaks lose lost loss wrong bad worse worst danger dangerous risky outage \
                     crash crashed corrupt damage regret rejected harmful \
                     non pas jamais aucun aucune rien sans ne ni guère contre refuser refuse refus rejeter rejet interdire interdit interdite interdiction \
                     empêcher bloquer opposer opposé éviter évite abandonner annuler échec échouer échoué panne cassé casser perdu perdre perte faux \
                     mauvais mauvaise pire danger dangereux dangereuse risqué impossible nuisible regretter défendu";
/// The same in Japanese, wherever they stand.
const JAPANESE: [&str; 28] = [
    "ない",
    "ません",
    "なかった",
    "失敗",
    "危険",
    "危な",
    "障害",
    "故障",
    "破損",
    "事故",
    "壊れ",
    "禁止",
    "禁じ",
    "だめ",
    "駄目",
    "反対",
    "拒否",
    "拒絶",
    "却下",
    "否決",
    "断る",
    "断り",
    "断っ",
    "不可",
    "無理",
    "中止",
    "悪い",
    "悪化",
];
/// Phrases that have such a word and speak against nothing.
const HARMLESS: [&str; 14] = [
    "no problem",
    "no doubt",
    "not only",
    "sans doute",
    "sans problème",
    "かもしれない",
    "かもしれません",
    "なければならない",
    "なければなりません",
    "なければいけない",
    "なくてはならない",
    "少ない",
    "不可欠",
    "違いない",
];

/// Letters of a listed word at least of which inflected forms are found: the stem of `note` is `not`.
const INFLECTED: usize = 4;

/// The listed words, and the stems of those that are long enough.
static LISTED: LazyLock<(BTreeSet<String>, BTreeSet<String>)> = LazyLock::new(|| {
    let words: Vec<_> = [WORDS, "nobody"].into_iter().flat_map(text::words).collect();
    let long = words.iter().filter(|word| word.key.chars().count() >= INFLECTED);
    (words.iter().map(|word| word.key.clone()).collect(), long.map(|word| word.stem.clone()).collect())
});

/// Whether a text has a word against something.
pub(super) fn is_against(text: &str) -> bool {
    let mut text = text.to_lowercase();
    for phrase in HARMLESS {
        text = text.replace(phrase, " ");
    }
    let words = text::words(&text);
    let (keys, stems) = &*LISTED;
    words.iter().any(|word| keys.contains(&word.key) || stems.contains(&word.stem) || word.key.ends_with("n't"))
        || JAPANESE.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences that speak against a deploy, by which words were chosen.
    const CHOSEN_ON: [&str; 30] = [
        "nobody deploys on Friday",
        "the pipeline refuses deploys",
        "we are against deploys on Friday",
        "deploys on Friday are banned",
        "deploys are not allowed",
        "we never deploy",
        "no one deploys",
        "the deploy was rejected",
        "the deploy broke the site",
        "Omar opposes deploys on Friday",
        "deploys on Friday are prohibited",
        "the deploy failed",
        "we avoid deploys on Friday",
        "we can't deploy",
        "the deploy was cancelled",
        "金曜のデプロイは禁止です。",
        "金曜にはデプロイしません。",
        "オマールはデプロイに反対している。",
        "デプロイは却下された。",
        "デプロイは失敗した。",
        "誰もデプロイしない。",
        "デプロイを拒否した。",
        "デプロイで故障した。",
        "Personne ne déploie le vendredi.",
        "Omar refuse le déploiement.",
        "Nous sommes contre le déploiement.",
        "Le déploiement est interdit.",
        "Le déploiement a échoué.",
        "On ne déploie jamais.",
        "On évite le déploiement.",
    ];
    /// Others, of the same author; no word was added or taken away for them.
    const HELD_BACK: [&str; 30] = [
        "neither of us deploys on Friday",
        "the gate blocks deploys",
        "deploys on Friday are off limits",
        "Lena vetoed the deploy",
        "the deploy crashed the server",
        "we stopped deploying on Friday",
        "the deploy was a mistake",
        "deploys on Friday are disallowed",
        "we lost data in the deploy",
        "the deploy was rolled back",
        "a deploy on Friday is too risky",
        "the deploy caused an outage",
        "we refrain from deploys",
        "Nina forbade the deploy",
        "the team regrets the deploy",
        "デプロイは中止になった。",
        "デプロイは危ない。",
        "デプロイを断った。",
        "デプロイは認められていない。",
        "デプロイで障害が起きた。",
        "デプロイはやめるべきだ。",
        "デプロイは無理だ。",
        "デプロイを見送った。",
        "Le déploiement a été rejeté.",
        "Le serveur est tombé en panne au déploiement.",
        "Aucun déploiement le vendredi.",
        "Nina s'oppose au déploiement.",
        "Le déploiement est exclu.",
        "Nous avons perdu des données au déploiement.",
        "Le déploiement est trop risqué.",
    ];
    /// Sentences that speak against nothing.
    const HARMLESS_ONES: [&str; 18] = [
        "we deploy on Friday",
        "deploys on Friday are allowed",
        "the deploy went well",
        "Anna and Omar deploy together",
        "no problem with the deploy",
        "not only Anna deploys",
        "there is no doubt about the deploy",
        "the deploy is at noon",
        "金曜にデプロイします。",
        "デプロイしなければならない。",
        "デプロイは成功した。",
        "デプロイは不可欠です。",
        "デプロイするかもしれない。",
        "Nous déployons le vendredi.",
        "Le déploiement est permis.",
        "Le déploiement a réussi.",
        "Anna déploie sans doute demain.",
        "Une note au sujet du déploiement.",
    ];

    fn found(of: &[&str]) -> usize {
        of.iter().filter(|text| is_against(text)).count()
    }

    #[test]
    fn words_against_something_are_found_in_three_languages() {
        let missed: Vec<&str> = CHOSEN_ON.into_iter().filter(|text| !is_against(text)).collect();
        assert_eq!(missed, Vec::<&str>::new());
        let wrong: Vec<&str> = HARMLESS_ONES.into_iter().filter(|text| is_against(text)).collect();
        assert_eq!(wrong, Vec::<&str>::new());
    }

    #[test]
    fn words_held_back_are_found_as_the_documentation_says() {
        let missed: Vec<&str> = HELD_BACK.into_iter().filter(|text| !is_against(text)).collect();
        assert_eq!(found(&HELD_BACK), 22, "{missed:#?}");
    }
}
