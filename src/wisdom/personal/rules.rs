//! Forms of personal facts, in English, French and Japanese. Texts come in NFKC and in small letters.
//!
//! `FORMS` are those with a grammar; `terms.txt` has words and phrases by kind: `_` stands for white space, `-` for that or a hyphen, `*` for more
//! letters. Those of Japanese are looked for inside texts, because words are not apart there.

use std::sync::LazyLock;

use regex::Regex;

/// A form of personal facts.
pub(super) struct Rule {
    /// What it is.
    pub kind: &'static str,
    form: Regex,
}

impl Rule {
    pub fn is_in(&self, text: &str) -> bool {
        self.form.is_match(text)
    }
}

/// `b` stands for the border of a word.
const FORMS: &[(&str, &str)] = &[
    ("e-mail address", r"[^\s@]+@[^\s@]+\.[^\s@]+|\S+\s*\(at\)\s*\S+"),
    (
        "e-mail address",
        r"\b\w+\s+(at|arobase|arobas)\s+[\w.-]+\s+(dot|point)\s+\w+|[\[({](at|dot)[\])}]|\bdot\s+(com|net|org|io|fr|jp|uk|de)\b|\bpoint\s+(com|fr|net|org)\b|アットマーク|ドット\s*(コム|ネット|com|net|jp|org)",
    ),
    (
        "number in words",
        r"\b((zero|oh|nought|one|two|three|four|five|six|seven|eight|nine|double|triple)[\s,-]+){4,}(zero|oh|nought|one|two|three|four|five|six|seven|eight|nine)\b|\b((zéro|zero|un|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|quarante|cinquante|soixante|et)[\s,-]+){4,}(zéro|zero|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingts?|trente|quarante|cinquante|soixante)\b|[〇零一二三四五六七八九]([\s、の・-]?[〇零一二三四五六七八九]){5,}|(ゼロ|れい|いち|さん|よん|ろく|なな|しち|はち|きゅう|ご|に)([\s、・-]*(ゼロ|れい|いち|さん|よん|ろく|なな|しち|はち|きゅう|ご|に)){5,}",
    ),
    (
        "number in words",
        r"\b((zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[\s,-]+){3,}(zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b|\b((zéro|un|deux|trois|quatre|cinq|six|sept|huit|neuf)[\s,-]+){3,}(zéro|un|deux|trois|quatre|cinq|six|sept|huit|neuf)\b|\+\d{1,3}\s+(zero|one|two|three|four|five|six|seven|eight|nine|zéro|un|deux|trois|quatre|cinq|sept|huit|neuf)\b",
    ),
    (
        "number in words",
        r"(ゼロ|レイ|イチ|サン|ヨン|ロク|ナナ|シチ|ハチ|キュウ|ゴ|ニ|れい|いち|さん|よん|ろく|なな|しち|はち|きゅう|ご|に)([\s、・-]*(ゼロ|レイ|イチ|サン|ヨン|ロク|ナナ|シチ|ハチ|キュウ|ゴ|ニ|れい|いち|さん|よん|ろく|なな|しち|はち|きゅう|ご|に)){5,}",
    ),
    (
        "e-mail address",
        r"\S@\p{L}|%40|\b(at|chez|arobase)\s+(gmail|googlemail|hotmail|yahoo|outlook|icloud|proton\w*|orange|free|laposte|gmx)\b|\bt\.me/|\b(insta|instagram|facebook|twitter|linkedin|tiktok|snapchat|mastodon)\s+[a-z]|///\w+\.\w+\.\w+",
    ),
    ("handle", r"(^|[\s(])@[\p{L}\d_]{2,}"),
    ("web address", r"https?://|\bwww\.|\b[\w-]+\.(com|org|net|io|fr|jp|uk|de|eu)\b"),
    (
        "network address",
        r"\b\d{1,3}(\.\d{1,3}){3}\b|\b([0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b|\b([0-9a-f]{0,4}:){3,7}[0-9a-f]{1,4}\b",
    ),
    ("network address", r"\b[0-9a-f]{0,4}\d[0-9a-f]{0,3}::[0-9a-f]{0,4}\b|\s::\d"),
    ("account number", r"\b[a-z]{2}\d{2}(\s?[a-z0-9]{4}){2,}"),
    ("number", r"\d(\s?[.,/·•|~_:;\u{2010}-\u{2015}\u{2043}\u{2212}-]?\s?\d){5,}|\d{5,}"),
    (
        "identifier",
        r"\b([a-z]{1,4}-?\d{3,}[a-z0-9]*|[a-z]{2}\d{2}\s?[a-z]{3}|\d{2,}[\s-]?[a-z]{2,3}[\s-]?\d{2,}|[a-z]{2}[\s-]?\d{3}[\s-]?[a-z]{2}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+)\b",
    ),
    ("date", r"\b\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\d{1,4}\s*年|\d{1,2}\s*月\s*\d{1,2}\s*日|(昭和|平成|令和|大正)"),
    (
        "date",
        r"\b(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)\.?\s+\d{1,4}\b|\b\d{1,2}(st|nd|rd|th)?\s+(of\s+)?(january|february|march|april|may|june|july|august|september|october|november|december)\b",
    ),
    (
        "date",
        r"\b(\d{1,2}|1er)\s+(janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)\b|\b(janvier|février|avril|juin|juillet|août|septembre|octobre|novembre|décembre)\s+\d{4}\b",
    ),
    (
        "date",
        r"\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|twentieth|twenty-\w+|thirtieth|thirty-first)\s+(of\s+)?(january|february|march|april|may|june|july|august|september|october|november|december)\b|\b(premier|un|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|(dix|vingt)-\w+|vingt|trente(\s+et\s+un)?)\s+(janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)\b|\b(last|next|every)\s+(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(mon|tues|wednes|thurs|fri|satur|sun)days?\s+at\b|\b(chaque|tous les)\s+(lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?\b|\b(lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\s+(dernier|prochain|à)\b",
    ),
    (
        "age",
        r"\b(aged?|âgée?s?\s+de)\s+(\w+ty|\w+teen|ten|eleven|twelve|vingt|trente|quarante|cinquante|soixante\w*)\b|\b(vingt|trente|quarante|cinquante|soixante|quatre-vingts?)(-\w+)?\s+ans\b",
    ),
    (
        "street",
        r"\b(flat|apartment|room|suite|chambre|appartement|appart|bâtiment)\s+(\d|one\b|two\b|three\b|four\b|five\b|six\b|seven\b|eight\b|nine\b|ten\b|un\b|deux\b|trois\b|quatre\b|cinq\b|sept\b|huit\b|neuf\b|dix\b)|\bnumber\s+\w+\s+([\p{L}'-]+\s+){0,2}(street|road|avenue|lane|drive|boulevard|square|court|way)\b|\b(saint|sainte|st)-\p{L}{3,}",
    ),
    (
        "name given",
        r"\bje\s+m['’]appelle\b|\b(mon|son) nom est\b|\bmoi,?\s+c['’]est\b|\b(call|they call)\s+(me|him|her)\s+\p{L}|\b(i am|i['’]m)\s+\p{L}+\s*($|[.,;!])|(^|[^\d\s]\s+)ms\s+\p{L}{2,}|\b(sir|lady|lord|dame|captain|colonel|sergeant|officer|reverend)\s+\p{L}{2,}|\b\p{L}{3,}\s+(jr|sr)\b|\p{L}-(san|sama|kun|chan|sensei)\b|[a-z](さん|様|氏|君|先生)|[ぁ-きけ-ん](さん|君|先生)($|[^か-ん])|[ぁ-ん]様($|[はがのにをと\s])",
    ),
    (
        "ethnicity or nationality",
        r"\b(customers?|clients?|guests?|m[ae]n|wom[ae]n|boys?|girls?|tenants?|neighbou?rs?|colleagues?|boss|cook|he|she|they)\s+(is|are|was|were)\s+(black|white|asian|brown|coloured|colored)\b|\b(clients?|clientes?|patronne?|voisine?|collègue|il|elle)\s+est\s+(noire?|blanche?|arabe|asiatique)\b",
    ),
    (
        "a script that is not read",
        r"[\p{L}&&[^\p{Latin}\p{Han}\p{Hiragana}\p{Katakana}\u{30fc}\u{ff70}\u{3bc}]]|[\u{250}-\u{2af}\u{1d00}-\u{1dbf}]",
    ),
    (
        "date in words",
        r"\b(january|february|march|april|may|june|july|august|september|october|november|december)\s+(the\s+)?(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|(thir|four|fif|six|seven|eigh|nine)teenth|twentieth|thirtieth|(twenty|thirty)[\s-](first|second|third|fourth|fifth|sixth|seventh|eighth|ninth))\b|[一二三四五六七八九十]{1,2}月[一二三四五六七八九十]{1,3}日",
    ),
    ("number in words", r"[〇零一二三四五六七八九][〇零一二三四五六七八九ー-]{8,}"),
    ("age", r"\b(he|she)\s+is\s+\d{1,3}\s*($|[.,;!])"),
    (
        "family counted",
        r"\b(has|have|had)\s+(\d+|an|one|two|three|four|five|six)\s+(child(ren)?|kids?|sons?|daughters?)\b|\b(a|as|ai|ont|avait)\s+(\d+|une?|deux|trois|quatre|cinq|six)\s+(enfants?|fils|filles?)\b|つま(が|は|の|と|も)",
    ),
    ("in Japanese", r"(^|[^酵分])母(が|は|の|と)|(^|[^クド])ローン|ミサ(に|へ|を|の|が)"),
    ("year", r"\b(19|20)\d{2}\b"),
    ("identifier", r"\b\p{L}{6,}\d{2,}\b|[ぁ-ん]{3,}\d{2,}"),
    (
        "number in words",
        r"[〇零一二三四五六七八九]{4,}|\bnumber\s+(eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b",
    ),
    (
        "number in words",
        r"(ゼロ|レイ|イチ|サン|ヨン|ロク|ナナ|シチ|ハチ|キュウ|キュー|ゴー|ニー|ゴ|ニ)([\sーの、・-]*(ゼロ|レイ|イチ|サン|ヨン|ロク|ナナ|シチ|ハチ|キュウ|キュー|ゴー|ニー|ゴ|ニ)){4,}",
    ),
    (
        "date",
        r"\b(all|whole|most|end|middle|beginning)\s+of\s+(january|february|march|april|may|june|july|august|september|october|november|december)\b|\bmois\s+d['’e]\s?\p{L}+|[一二三四五六七八九十]{1,2}月|[一二三四五六七八九十]{1,3}日(に|は|から|まで)",
    ),
    ("name given", r"[ぁ-んァ-ンー](くん|ちゃん|たん)(に|が|は|の|を|と|も)"),
    (
        "relative",
        r"(じい|ばあ|じじ|ばば|おじ|おば|にい|ねえ)(ちゃん|さん)|うちの|子ども|こども|隣(の人|人|さん|に頼|に聞)",
    ),
    (
        "a person",
        r"\b(kids|toddlers?|folks|neighbou?rs?|flatmates?|room-?mates?|landlord|landlady|tenants?|my\s+(boy|girl|man|lady|mate|pal)|gosses?|gamins?|mômes?|voisine?s?|gars|mec|meuf|nana|bonhomme|proprio|colocs?|chez (nous|lui|elle|eux|moi))\b|大家|隣人|同居人|知り合い|友だち|友達|幼なじみ",
    ),
    // English says `it` of what is no person.
    ("a person", r"\b(he|she|him|himself|herself|hers)\b|\bhis\s+\p{L}|\bher\s+\p{L}|彼(は|が|の|を|に|と|も|ら)"),
    (
        "ethnicity or nationality",
        r"\b(is|are|was|were|people|man|woman|person|family|parents)\s+of\s+(\p{L}+\s+){1,2}(origins?|descent|heritage|ancestry|extraction)\b|\bof\s+\p{L}+\s+(descent|ancestry)\b|\b(est|sont|suis|était|étaient|famille|parents)\s+d['’]origine\b|[\p{Han}\p{Katakana}ー]{2,}系(の人|人|移民|住民|二世|三世)",
    ),
    ("identifier", r"[\p{Han}ぁ-ん]{1,4}\s?\d{2,3}\s?[ぁ-ん]\s?[\d・]{1,2}[-‐−ー]?\d{2}"),
    (
        "coordinates",
        r"\d+\s*(degrees?|degrés?|deg)\s+(north|south|east|west|nord|sud|est|ouest)\b|\d\s*°?\s*[ns]\b\s*,?\s*\d+([.,]\d+)?\s*°?\s*[ew]\b",
    ),
    (
        "birth",
        r"\b(born|birthday|birth\s?date|date of birth|dob|birthplace|née?s?\s+(le|à|en)|naissance|anniversaire)\b|生まれ|誕生日|生年月日|出生",
    ),
    (
        "age",
        r"\b\d{1,3}[\s-]?(years?|yrs?|months?)[\s-]old\b|\baged?\s+\d{1,3}\b|\b\d{1,3}\s+ans\b|[\d一二三四五六七八九十]+\s*[歳才]",
    ),
    ("postal code", r"\b[a-z]{1,2}\d[a-z\d]?\s*\d[a-z]{2}\b|〒|郵便番号|\b(zip|postal)\s?code\b|\bcode postal\b"),
    (
        "street",
        r"\b\d+\w?,?\s+([\p{L}'-]+\s+){0,3}(street|st|road|rd|avenue|ave|lane|ln|drive|boulevard|blvd|square|court|way)\b|\b(rue|avenue|boulevard|impasse|chemin|allée|quai|place)\s+(de|du|des|de la|d'|l')|\b\d+\s*,?\s*(bis|ter)?\s*,?\s*(rue|avenue|boulevard|impasse|chemin|allée|quai|place)\b|丁目|番地|号室|\bapartment\s+\d|\bapt\.?\s*\d|\bp\.?\s?o\.?\s+box\b|\bboîte postale\b",
    ),
    ("coordinates", r"-?\d{1,3}\.\d{3,}|\d+\s*°|\b(latitude|longitude)\b|緯度|経度"),
    (
        "title",
        r"\b(mr|mrs|dr|prof|mme|mlle|mgr)\b\.?\s+\p{L}|\bms\.\s+\p{L}|\b(monsieur|madame|mademoiselle|maître|docteur|professeur|professor|doctor|uncle|aunt|tante|oncle|miss|mister)\s+\p{L}|\bm\.\s+\p{L}|[\p{Han}\p{Katakana}ー](さん|氏|くん|ちゃん|先生|殿|課長|部長|社長)|[^仕同多模異一各有]様(は|が|の|に|を|と|$)|[\p{Han}\p{Katakana}]君",
    ),
    (
        "relative",
        r"\b(my|his|her|their|our)\s+(\w+\s+)?(wife|husband|mother|father|mom|mum|dad|son|daughter|sister|brother|child|children|kids?|partner|girlfriend|boyfriend|fiancée?|cousin|niece|nephew|aunt|uncle|grand\w+|ex|boss|doctor|therapist)\b|\b(ma|mon|mes|sa|son|ses|leur)\s+(femme|mari|épouse|époux|mère|père|fils|fille|sœur|soeur|frère|enfants?|compagne|compagnon|copine|copain|cousine?|nièce|neveu|tante|oncle|médecin|patronne?)\b|妻|夫の|夫は|夫が|母親|父親|息子|の娘|娘は|娘の|娘が|兄は|弟は|妹|姉は|彼女|彼氏|婚約者|祖母|祖父|両親|家族|子供|お母さん|お父さん",
    ),
    (
        "marital state",
        r"\b(married|divorced|widow(ed|er)?|engaged to|separated from|mariée?s?|divorcée?s?|veufs?|veuves?|célibataire|pacsée?s?)\b|結婚|離婚|独身|未亡人",
    ),
    (
        "health",
        r"\b(diagnos\w*|disease|illness|cancer|diabet\w*|hiv|aids|asthma\w*|allerg\w*|pregnan\w*|depress(ed|ion)|anxiety|bipolar|autis\w*|epilep\w*|surgery|medication|prescription|patient|therapy|disab(led|ility)|blood (type|group|pressure)|wheelchair|miscarriage|sick leave|insulin|maladie|malade|diabète|diabétique|sida|vih|asthm\w*|enceinte|grossesse|dépress\w*|handicap\w*|ordonnance|groupe sanguin|opération du|arrêt maladie|séropositi\w*)\b|病|糖尿|がん|癌|妊娠|喘息|うつ|鬱|アレルギー|血液型|障害者|(^|[^偽])陽性|薬を飲|手術|入院|通院|診断",
    ),
    (
        "health",
        r"(^|[^'’\w-])ill([^\w-]|$)|\b(sick|sickness|unwell|ailing|feverish|terminally|chemo\w*|radiotherap\w*|dialys\w*|dialyz\w*|transplant(ed|s)?|tumou?rs?|leuk\w*mia|lymphoma|dementia|alzheimer\w*|parkinson\w*|sclerosis|arthritis|migraines?|insomnia|anorexi\w*|bulimi\w*|schizophreni\w*|adhd|tdah|ptsd|overdose\w*|rehab|alcoholi\w*|addict(ed|ion|s)?|relapse[ds]?|hospice|hospital\w*|clinic|oncolog\w*|psychiatr\w*|psycholog(ist|ue)s?|psychotherap\w*|antidepress\w*|antipsychotic\w*|antibiotics?|painkillers?|sedatives?|tranquilli[sz]ers?|sleeping pills?|inhaler|pacemaker|stroke|infarct\w*|stillb\w+|ivf|menopaus\w*|therapists?|sleepless\w*)\b",
    ),
    (
        "health",
        r"\b\w{2,}(sartan|statin|azepam|azolam|zepine|oxetine|traline|triptyline|pramine|cillin|mycin|prazole|formin|gliptin|tinib|codone|barbital|lukast|dronate|peridone|tiapine|zapine|methasone|nisolone|parin)e?s?\b|\b\w{3,}pril\b|\b\w{3,}olol\b|\b(chimio\w*|radiothérapie|dialyse\w*|dialysée?s?|greffée?s?|tumeurs?|leucémie|démence|sclérose|arthrite|migraines?|insomni\w*|anorexi\w*|boulimi\w*|schizophr\w*|alcooli\w*|toxicoman\w*|addictions?|rechute\w*|souffrante?s?|fiévreu\w*|hospitalis\w*|hôpital|clinique|psychiatr\w*|psychothérap\w*|antidépress\w*|anxiolyti\w*|somnifères?|neurolepti\w*|antibiotiques?|antidouleurs?|calmants?|pilule|avc|infarctus|fausse couche|ménopaus\w*|traitement médical|mal(ade)? au lit)\b|透析|抗がん|化学療法|放射線治療|服薬|薬を|睡眠薬|抗うつ|安定剤|治療中|体調|不眠|認知症|高血圧|腫瘍|骨折|流産|更年期|発熱|寝込|療養|休職|依存症|介護",
    ),
    (
        "pregnancy",
        r"\b(she|he|they|who|wife|partner|colleague)\s*('s|’s|is|are|was|were)\s+expecting\b|\bexpecting\s+(a\s+)?(baby|child|boy|girl|twins|in (spring|summer|autumn|winter))\b|\b(maternity|paternity|parental)\s+leave\b|\bdue date\b|\battend\s+(un|une|des)\s+(bébé|enfant|heureux|jumeaux|jumelles|petite?)\b|\bcongé\s+(maternité|paternité|parental)\b|出産|産休|育休|身重|臨月|つわり|おめでた",
    ),
    (
        "work",
        r"\b(unemploy\w*|jobless|out of work|laid off|made redundant|on the dole|job ?seeker\w*|fired (him|her|them|me)|(was|were|been|got) (fired|sacked|dismissed)|resigned|notice period)\b|\b(my|his|her|their)\s+(\w+\s+)?(manager|employer|landlord|landlady|lawyer|dentist|nurse|coach|teacher|colleague|job|shift)\b|\b(chômage|chômeu\w*|sans emploi|demandeu\w* d'emploi|pôle emploi|licenci\w+|virée?s?|au black|préavis|prud'hommes?)\b|\b(son|sa|mon|ma|leur)\s+(chef|cheffe|employeur|propriétaire|avocate?|dentiste|infirmi\w+|collègue|travail|boulot)\b|無職|失業|求職|解雇|クビ|退職|リストラ|ハローワーク",
    ),
    (
        "income or money",
        r"\b(is|was|are|were|be|went|('|’)s)\s+broke\b|\b(gambl\w*|betting|overdraft|payday loan|bailiffs?|food bank|welfare|benefits office|in arrears|evict\w*|pension|fauchée?s?|ruinée?s?|surendett\w*|huissiers?|découvert|loyers? impayés?|joue\w* aux? (casino|courses|jeux)|restos du cœur)\b|破産|生活保護|ギャンブル|パチンコ|滞納|自己破産|貧困|金欠",
    ),
    (
        "politics",
        r"\bvot(es?|ed|ing)\s+(for|against|left|right|green|labour|conservative)\b|\b(vote\w*|votent|voté)\s+(à|pour|contre|au|aux)\b|\b(left|right)-wing\w*\b|\bd'extrême (gauche|droite)\b|左翼|右翼|支持者|民主党|公明党|維新の会|選挙",
    ),
    (
        "relative",
        r"\bex-(wife|husband|partner|boyfriend|girlfriend|mari|femme|épouse|compagn\w+|copine?|copain|conjointe?)\b|\b(mother|father|sister|brother|son|daughter|parents)-in-law\b|\bin-laws\b|\bstep-?(mother|father|son|daughter|child\w*|sister|brother)\b|\bbelles?-(mère|sœur|soeur|fille|famille)s?\b|\bbeaux?-(père|frère|fils|parents)s?\b|\b(grand)-?(mère|père|mother|father|parents)\b|義母|義父|義理の|継母|元夫|元妻|元カレ|元カノ",
    ),
    (
        "income or money",
        r"\b(salar(y|ies)|earns?|income|wage|net worth|debts?|mortgage|bankrupt\w*|credit score|bank account|salaires?|gagne|revenus?|dettes?|hypothèque|découvert|compte bancaire|retraite de)\b|[$€£¥]\s*\d|\d\s*[$€£¥円]|\d\s*(k|million|万)?\s*(euros?|dollars?|pounds?|yen)\b|\b(hundred|thousand|million|grand|cent|mille)s?\s+(euros?|dollars?|pounds?|francs?|yen)\b|(\b(thousand|grand|mille)|\d[.,\s]?\d{3}|\d\s?k)\s+((a|per)\s+(year|month|annum)|par\s+(an|mois))\b|年収|月給|給料|給与|借金|口座|住宅ローン",
    ),
    (
        "religion",
        r"\b(catholic\w*|protestant\w*|muslims?|islam\w*|jew(s|ish)?|buddhist\w*|hindus?|christians?|atheists?|mormons?|church|mosque|synagogue|baptised|catholiques?|musulmane?s?|juifs?|juives?|bouddhistes?|hindoue?s?|chrétiene?s?|chrétienne?s?|athées?|mosquée|église|baptême)\b|信者|仏教徒|イスラム|キリスト教|神道|創価|宗教",
    ),
    (
        "politics",
        r"\b(votes?d? for|republican|democrat|labour party|tory|tories|conservative party|party member|union member|trade union|shop steward|délégués? (syndica\w+|cgt|cfdt)|communist|socialist|vote pour|a voté|républicaine?s?|socialistes?|communistes?|syndiqué\w*|syndicat|adhérente? (du|au) parti|encarté\w*)\b|投票|党員|自民党|共産党|立憲|労働組合|組合(の|員)|支持政党",
    ),
    (
        "orientation or gender",
        r"\b(gay|lesbian|bisexual|transgender|trans (man|woman)|homosexual\w*|straight man|non-?binary|queer|lesbienne|homosexuel\w*|bisexuel\w*|transgenre)\b|同性愛|ゲイ(の|で|と|だ|は)|レズビアン|バイセクシュアル|トランスジェンダー|性的指向",
    ),
    (
        "ethnicity or nationality",
        r"\b(ethnic\w*|caucasian|hispanic|immigra\w*|refugee|asylum|citizen(ship)?|nationalit\w*|naturalis\w*|naturaliz\w*|undocumented|immigrée?s?|réfugiée?s?|asile|citoyenneté|origine ethnique|sans-papiers)\b|国籍|在日|移民|難民|帰化|ハーフ|人種",
    ),
    (
        "criminal record",
        r"\b(convict(ed|ion)|arrest(ed)?|criminal record|prison|jail|parole|felony|probation officer|condamnée?s?|casier judiciaire|arrêtée? par|garde à vue|détention)\b|前科|逮捕|有罪|刑務所|執行猶予",
    ),
    (
        "employer or school",
        r"\b(works? (at|for)|worked (at|for)|working (at|for)|employ(ed|er|ee)|hired by|fired from|student at|stud(ies|ied) at|graduated|alumn\w+|attends|enrolled|job at|travaille(nt)? (chez|à|pour)|employée?s? (chez|de|par)|embauchée? par|licenciée? (de|par)|étudie à|étudiante? à|diplômée? (de|du)|scolarisée?)\b|勤務|勤め|働いて|社員|大学生|高校生|在学|卒業|通って|転職",
    ),
    (
        "home",
        r"\b(lives? (in|at|on|near)|living (in|at)|resid(es?|ing|ent)|moved (to|from)|home address|hometown|flat in|house in|grew up|habit(e|ent|ait)|domicil\w*|réside\w*|demeure(nt)? (à|au)|déménag\w*|logée? (à|chez)|adresse)\b|住んで|住む|住所|在住|引っ越|実家|自宅|出身|本籍",
    ),
    (
        "travel or presence",
        r"\b(on (vacation|holiday)|away until|flight|boarding|hotel room|en vacances|absente? jusqu\w*|vol de|chambre \d|en congé)\b|休暇|旅行中|出張中|不在|泊ま",
    ),
    (
        "document",
        r"\b(passports?|driver'?s? licen[cs]e|driving licen[cs]e|licen[cs]e plate|number plate|identity card|id card|social security|national insurance|ssn|nino|tax (id|number)|visa|health card|insurance number|passeports?|permis de conduire|plaque d'immatriculation|carte d'identité|sécurité sociale|numéro (fiscal|de sécu|d'allocataire)|carte vitale|titre de séjour)\b|パスポート|旅券|運転免許|免許証|マイナンバー|保険証|住民票|在留カード|ナンバープレート|個人番号|年金番号",
    ),
    (
        "login",
        r"\b(user\s?name|login|log-in|nickname|account name|identifiant|pseudo)\s*(is|was|:|=|est)|\b(pass(word|code|phrase)|pin code|pin is|mot de passe|code secret)\b|(ユーザー名|ログイン名|ログインID|ログインid)(は|:)|パスワード|暗証番号|ニックネーム|アカウント名",
    ),
    (
        "name given",
        r"\b(named|called|is known as|my name|full name|first name|last name|surname|maiden name|signed by|s'appelle|nommée?s?|prénom\w*|nom de (famille|jeune fille)|surnommée?)\b|名前|氏名|苗字|名字|旧姓|という者|と申します",
    ),
    (
        "body",
        r"\b(\d+\s*(kg|lbs?|pounds|stone)\b|\d+\s?cm tall|tall woman|weighs|hair colou?r|eye colou?r|fingerprint\w*|face id|dna|tattoo|scar on|pèse|mesure \d|empreintes?|tatou\w+|adn|yeux (bleus|verts|marron))\b|身長|体重|指紋|顔写真|遺伝子|入れ墨",
    ),
    (
        "health",
        r"\b(overweight|underweight|obes\w+|limps?|limping|(she|he|they|who|neighbou?r|colleague|boss|customer)\s+(smokes?|drinks|vapes?)|smokers?|drunkard\w*|alcoolique\w*|fume|fument|fumeu\w+|boit trop|boivent trop|obèses?|surpoids|boite|boitent|maigreur)\b|車椅子|生理(痛|中)|不妊|アルコール|痛風|喫煙|肥満|酒浸り|酔って|白内障|虫歯",
    ),
    (
        "religion",
        r"\b((non-?)?croyante?s?|pratiquante?s?|curés?|imams?|rabbins?|rabbis?|vicars?|pastors?|priests?|pasteurs?|prêtres?|parish\w*|paroiss\w+|pious|devout|believers?|pieu(x|se)s?)\b|牧師|神父|僧侶|檀家|信心",
    ),
    (
        "politics",
        r"\b(est|sont|était|plutôt)\s+(de|très à|à)\s+(gauche|droite)\b|\b(leftist|rightist|conservative voter|lefty|gauchistes?)\b|左派|右派",
    ),
    (
        "relative",
        r"\b(son|sa|leur|mon|ma|her|his|their|my)\s+divorce\b|\b(orphans?|orphelin\w*|adopted (boy|girl|child|son|daughter|kid)|adoptée?s?|foster (child|family|mother|father)|famille d'accueil)\b|旦那|主人(は|が|の)|嫁(は|が|の)|女房|孤児|養子|里親|うちの(夫|妻|子|母|父)",
    ),
    (
        "work",
        r"\b(our|the|my|his|her|their)\s+(ceo|cto|cfo|boss|landlady|janitor|secretary)\b|\b(retired|retiree\w*|retraitée?s?|intérimaires?|stagiaires?|apprentie?s?)\b|[\p{Katakana}ー\p{Han}]{2,}で働",
    ),
    (
        "income or money",
        r"\b(garnish\w*|repossess\w*|pawn(ed|shop)|mutuelle|saisie sur salaire|allocations? (familiales|logement)|rsa|smicards?)\b|借家|大家(さん|は|が|の)|家賃|質屋|奨学金",
    ),
    (
        "name given",
        r"\bo['’]([abd-z]\p{L}{2,}|c[^l\W]\p{L}+)|[ぁ-きけ-とに-ん]さん($|[はがのにをとへも、。\s])|[ぁ-ん]{2}さま[はがのに]",
    ),
    ("relative", r"\b(gendre|(belle|beau)-(fille|fils|père|mère|sœur|frère))\b|バツイチ|シングル(マザー|ファーザー)"),
    ("health", r"(^|[^\p{Katakana}ー])(ガン|ウツ)($|[^\p{Katakana}ー])|痴呆|\b(trisomi\w*|aphasi\w*|drépanocyt\w*)\b"),
    (
        "income or money",
        r"\b(owe[sd]?|behind on|late (on|with)|paie|doit) (the |his |her |their |my |le |son )?(rent|loyer)\b",
    ),
    ("origin", r"\bsans[- ]papiers\b|部落出身"),
    (
        "door code",
        r"\b(enter|dial|type|key in|tape[rz]?|compose[rz]?)\s+(the |le )?(code\s+)?\d{3,8}\b.{0,24}\b(gate|door|garage|safe|alarm|portail|porte|digicode|coffre)\b",
    ),
    (
        "contact",
        r"\b(phone|telephone|mobile|cell ?phone|fax|whatsapp|telegram|signal number|skype|extension \d+|ext\.? \d+|téléphone|portable|numéro de tél\w*|joindre au)\b|電話|携帯|ファックス|連絡先|内線",
    ),
];

/// All rules, compiled once.
pub(super) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |(kind, form): &(&'static str, &str)| Rule {
        kind,
        form: Regex::new(form).expect("invariant: a constant expression, which a test compiles"),
    };
    FORMS.iter().map(rule).chain(TERMS.lines().filter_map(terms)).collect()
});

/// Words and phrases by kind, one list a line.
const TERMS: &str = include_str!("terms.txt");

/// The rule of a line of terms.
fn terms(line: &'static str) -> Option<Rule> {
    let (kind, words) = line.split_once(": ")?;
    let form = |word: &str| word.replace('_', r"\s+").replace('-', r"[\s-]?").replace('*', r"\w*");
    let forms: Vec<String> = words.split(' ').map(form).collect();
    let all = forms.join("|");
    let form = if kind.is_ascii() { format!(r"\b({all})\b") } else { all };
    Some(Rule { kind, form: Regex::new(&form).expect("invariant: a constant list, which a test compiles") })
}
