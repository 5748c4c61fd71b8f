//! What asks and orders in French. Words stand here without accents, as they are compared.

use super::{Act, Clause, Courtesy, Said};

/// What goes before something that is told, whatever its form.
pub(super) const LEADS: &str = "tu sais quoi|vous savez quoi|devine quoi|devinez quoi|figure-toi|figurez-vous|tu ne vas pas le croire|tu vas pas le croire";
/// How a remark about who listens, or about what was said, begins.
pub(super) const REMARKS: &str = "tu es|t es|vous etes|c est|ce n est";

/// Subjects of a statement.
pub(super) const SUBJECTS: &str = "je j nous il elle on ils elles c ce ca cela";
/// What a subject begins with.
pub(super) const POSSESSIVES: &str = "mon ma mes notre nos son sa ses leur leurs";

/// Words of a rule for all that comes.
pub(super) const STANDING: &str =
    "toujours|jamais|desormais|dorenavant|a partir de maintenant|par defaut|a chaque fois|systematiquement";
/// Beginnings of what somebody is about to do.
pub(super) const PLANS: &str = "je vais|laisse moi|laissez moi|dois je";
/// Words before a rule.
pub(super) const BEFORE_RULE: &str = "svp merci donc et mais aussi rappel important";
/// Beginnings of what is ordered for all that comes.
pub(super) const ORDERS: &str = "utilisez utiliser evitez eviter preferez";
/// Beginnings of what is forbidden, or asked for each time.
pub(super) const FORBIDS: &str = "ne jamais|toujours|ne pas|jamais de";
/// Words that begin a sentence before `toujours` or `jamais`, and order nothing.
pub(super) const NO_ORDERS: &str = "est sont etait ai a as ont avait va vais peut doit fait suis presque pas plus comme depuis pour encore \
    ca c il elle on je tu nous vous et mais ou quasi mieux reste restait marche fonctionne plante arrive";
/// Words that begin a rule wherever they stand.
pub(super) const FROM_NOW: &str = "il faut|il ne faut|ne doit jamais|ne doivent jamais|doit toujours|doivent toujours|desormais|dorenavant|a partir de maintenant|a chaque fois|systematiquement";
/// Verbs that have a subject before them.
pub(super) const FINITE: &str = "est sont etait etaient sera seront ont avait avaient doit doivent peut peuvent prend prennent dure durent \
    travaille travaillent habite habitent vit vivent vient viennent marche marchent tourne tournent reste restent contient contiennent \
    utilise utilisent vaut coute coutent commence finit appartient demande demandent exige";
/// Words that open a clause of their own.
pub(super) const SUBORDINATORS: &str = "qui que ou comment pourquoi combien quel quelle quels quelles qu dont si quand lorsque parce car comme puis je j tu on nous vous il elle ils elles ce c";
/// What stands before an object.
pub(super) const ARTICLES: &str =
    "le la les l un une mon ma mes notre nos ton ta tes cet cette ces tout tous toute toutes moi";
/// Head nouns of the label of a rule.
pub(super) const LABELS: &str = "regle regles consigne consignes convention conventions";
/// Verbs that are ordered for all that comes, if they have a manner: `Écrire les messages en français`.
pub(super) const HABITS: &str =
    "ecrire ecris ecrivez rediger redigez nommer nommez formater formatez documenter documentez";
/// Beginnings of what is to be done no more.
pub(super) const STOPS: &str = "arrete arretez cesse cessez";
/// What people do with code.
pub(super) const TASKS: &str = "ajoute ajouter ajoutez corrige corriger corrigez lance lancer lancez relance relancer supprime supprimer supprimez \
    renomme renommer deplace deplacer cree creer installe installer pousse pousser fusionne fusionner annule annuler teste tester deploie deployer \
    remplace remplacer nettoie nettoyer verifie verifier continue continuer arrete arreter committe commite";

/// Words that say no more than that something is asked, said, shown or known.
pub(super) const TALKING: &str = "demande demander demandes demandee demandait question questions reponse reponses reponds repondu repondre dire \
    dis dit dites parle parler parles parlions conversation discute discuter montre montrer montre-moi liste lister donne \
    donner trouve trouver explique expliquer decris decrire resume resumer resumez raconte raconter rappelle rappeler rappelle-moi \
    souviens souvenir oublie savoir sais sait connais connait information informations renseignement idee aide aider plait \
    comprends compris passe";

/// Words that name the kind of thing that is asked for.
pub(super) const KINDS: &str = "nom noms prenom genre type sorte couleur heure date jour annee mois lieu endroit numero nombre age personne \
    personnes taille prix raison appelle appellent nomme trouve derniere dernier dernieres derniers premiere premier precedente precedent hier demain semaine semaines aujourd";

/// Verbs without which few words are a search and no note.
pub(super) const VERBS: &str = "est sont etait a ai as ont suis es va aime habite travaille veut doit peut achete achetez appelle appelez paie \
    payez vendu perdu pris mis parti venu fait recu trouve";

/// Formulas that are polite as a whole.
pub(super) const FORMULAS: [(Courtesy, &str); 4] = [
    (
        Courtesy::Greeting,
        "ca va|comment ca va|comment vas-tu|comment allez-vous|comment tu vas|tu vas bien|vous allez bien|tu es la|quoi de neuf|\
         enchante|enchantee",
    ),
    (Courtesy::Thanks, "ca m aide|ca m aide beaucoup"),
    (
        Courtesy::Farewell,
        "au revoir|a bientot|a demain|a plus|a plus tard|a tout a l heure|a la prochaine|bonne nuit|bonne journee|bonne soiree|bon \
         week-end|bonne fin de journee|c est tout",
    ),
    (
        Courtesy::Acknowledgement,
        "d accord|je vois|de rien|pas de probleme|pas de souci|ca marche|tres bien|c est bon|c est parfait|vas-y|allez-y|c est note|vraiment|je sais|bien sur|\
         bien joue|tant pis|et toi|et vous|c est vrai",
    ),
];

/// Words of which one is polite.
pub(super) const POLITE: [(Courtesy, &str); 4] = [
    (Courtesy::Greeting, "bonjour bonsoir salut coucou"),
    (Courtesy::Thanks, "merci mercis remercie"),
    (Courtesy::Farewell, "adieu ciao revoir"),
    (
        Courtesy::Acknowledgement,
        "oui non ouais dac parfait super genial entendu compris exact exactement voila desole desolee pardon bravo chouette excellent \
         magnifique interessant vrai faux ok top",
    ),
];

/// Words that may stand around polite ones.
pub(super) const AROUND: &str = "vous toi te moi beaucoup bien pour ton votre ta l la le les des d aide reponse infos info informations tout tous \
    toutes a au et c est ca va tres de rien pas probleme bonne bon journee soiree nuit semaine week-end plus tard demain bientot \
    prochaine fois je j ai tu mille encore mon ma ami amis en avance infiniment alors donc si tellement";

const WH: &str = "qui que qu quoi quel quelle quels quelles quand ou comment pourquoi combien lequel laquelle lesquels lesquelles d'ou";
const PRONOUNS: &str = "je j tu t il elle on nous vous ils elles";
const DETERMINERS: &str =
    "le la les l un une des mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs ce cet cette ces chaque";
const PREPOSITIONS: &str = "a de d avec pour en dans par chez depuis jusqu jusque sur sous vers contre sans";
const EXPLAINS: &str = "corrige corrigez explique expliquez explique-moi expliquez-moi decris decrivez decris-moi resume resumez resume-moi traduis traduisez repete \
    repetez continue continuez compare comparez enumere enumerez precise precisez raconte racontez raconte-moi racontez-moi montre-moi \
    montrez-moi montre-nous donne-moi donnez-moi donne-nous dis-moi dites-moi dis-nous trouve-moi trouvez-moi cherche-moi cite-moi \
    parle-moi parlez-moi aide-moi aidez-moi redis-moi fais-moi faites-moi liste-moi listez-moi cite citez";
const SHOWS: &str =
    "montre montrez liste listez donne donnez trouve trouvez cherche cherchez affiche affichez compte comptez";
/// Works that are made of words.
const WORKS: &str = "poeme poesie histoire mail email courriel resume liste tableau haiku chanson lettre texte blague plan rapport message reponse \
    titre script programme fonction";
/// Verbs of looking something up, which with a time are errands.
pub(super) const CHECKS: &str = "verifie verifiez confirme confirmez ouvre ouvrez trie triez classe classez calcule calculez retrouve retrouvez recherche \
    recherchez filtre filtrez selectionne selectionnez analyse analysez consulte consultez";
const OBJECTS: &str = "moi nous mes mon ma tous toutes tout toute les le la l ce cette ces quel quelle quels quelles qui ou quand comment combien \
    nos notre chaque";
const ENCLITICS: [&str; 13] =
    ["je", "tu", "il", "elle", "on", "nous", "vous", "ils", "elles", "ce", "t-il", "t-elle", "t-on"];

/// What a clause does by the way it begins.
pub(super) fn opens(clause: &Clause<'_>) -> Option<Act> {
    if keeps(clause) {
        return Some(Act::Told);
    }
    if clause.begins("savais-tu que|tu savais que|saviez-vous que|savais-tu qu|tu savais qu") && clause.words.len() > 4
    {
        return Some(Act::Told);
    }
    if clause.is(0, "oublie oubliez efface effacez supprime supprimez") && clause.is(1, OBJECTS) {
        return Some(Act::Order);
    }
    let polite = "peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|veux-tu|voulez-vous|voudrais-tu|tu peux|tu pourrais|vous pouvez|vous \
        pourriez|est-ce que tu peux|est-ce que tu pourrais|est-ce que vous pouvez|est-ce que vous pourriez|veuillez|merci de|il faut que tu me|il faut que tu nous|il faut que vous me|il faudrait que tu me";
    if clause.begins(polite) {
        return Some(Act::Order);
    }
    if clause.is(0, "est-ce n'est-ce")
        || clause.begins("c est quoi|c est qui|c est ou|c est quand|c est quel|c est quelle")
    {
        return Some(Act::Question);
    }
    if clause.is(0, WH) {
        return wh(clause).then_some(Act::Question);
    }
    if clause.is(0, PREPOSITIONS) && clause.is(1, "qui quoi quel quelle quels quelles quand ou combien lequel laquelle")
    {
        return Some(Act::Question);
    }
    if clause.begins("s il te plait|s il vous plait") {
        let rest = Clause { words: &clause.words[4..], tokens: &clause.tokens[4..], period: clause.period };
        return if rest.words.is_empty() { None } else { opens(&rest).or(Some(Act::Order)) };
    }
    let wonders = "je voudrais savoir|je veux savoir|j aimerais savoir|je me demande|je me demandais|tu sais|vous savez|tu connais|vous \
        connaissez|tu te souviens|tu te rappelles|j ai oublie ou|j ai oublie qui|j ai oublie quand|j ai oublie comment|j ai \
        oublie quel|j ai oublie quelle|j ai oublie pourquoi|j ai oublie combien|j ai oublie ce que|je ne sais pas ou|je ne sais \
        pas qui|je ne sais plus ou|je ne sais plus qui|je ne sais plus quand|je ne sais plus comment|je ne sais plus quel|je ne \
        sais plus quelle|je ne sais plus combien|une idee";
    // `Le boulanger ferme quel jour`, `il est où le disque`, `t'as le code`.
    let long = clause.words.len();
    let late = long > 3 && clause.is(long - 2, "quel quelle quels quelles");
    let stands = clause
        .words
        .windows(2)
        .zip(clause.tokens.windows(2))
        .any(|(words, tokens)| ["est", "sont"].contains(&words[0]) && tokens[1].key == "où");
    if late || stands || clause.begins("t as|tu as|tu peux me") && !clause.period && long > 2 {
        return Some(Act::Question);
    }
    let makes =
        clause.is(0, "ecris ecrivez redige redigez compose composez invente inventez prepare preparez fais faites");
    if makes && clause.is(1, "un une moi nous le la") && (2..5).any(|at| clause.is(at, WORKS)) && !clause.is_timed() {
        return Some(Act::Order);
    }
    let first = clause.word(0);
    let shows = SHOWS.split_whitespace().any(|verb| verb == first) && clause.is(1, OBJECTS);
    let is_check = CHECKS.split_whitespace().any(|verb| verb == first);
    let checks = is_check && (clause.is(1, OBJECTS) || clause.is(1, "si s")) && !clause.is_timed();
    let explains = EXPLAINS.split_whitespace().any(|verb| verb == first);
    let reminds = first == "rappelle-moi" || first == "rappelez-moi";
    if shows || checks || explains || reminds {
        return Some(Act::Order);
    }
    (clause.begins(wonders) || inverted(clause, 0)).then_some(Act::Question)
}

/// `Souviens-toi que …`, `n'oublie pas …`, `rappelle-moi de …`.
fn keeps(clause: &Clause<'_>) -> bool {
    let kept = "souviens-toi|souvenez-vous|retiens|retenez|rappelle-toi|rappelez-vous|n oublie pas|n oubliez pas|note que|notez que|note \
        bien|sache que|sachez que|garde en memoire|memorise|memorisez|rappelle-moi de|rappelle-moi d|rappelez-moi de|rappelez-moi d|\
        peux-tu retenir|peux-tu noter|peux-tu te souvenir|tu peux retenir|tu peux noter|pouvez-vous noter|pouvez-vous retenir|\
        pourrais-tu retenir|pourrais-tu noter";
    clause.begins(kept) && !clause.words.iter().take(4).any(|word| ["quoi", "qui", "comment", "quand"].contains(word))
}

fn wh(clause: &Clause<'_>) -> bool {
    let turned = inverted(clause, 1) || clause.words.iter().take(6).any(|word| *word == "est-ce");
    let subject = clause.is(1, PRONOUNS);
    match clause.word(0) {
        "comment" | "pourquoi" | "combien" => true,
        _ if turned => true,
        "qu" | "que" => !clause.is(1, DETERMINERS) && !subject,
        "quand" | "ou" => {
            clause.words.len() == 1
                || !subject && !clause.is(1, DETERMINERS) && !clause.capital(1) && !clause.is(1, "meme bien encore")
        }
        "qui" => !clause.period,
        _ => !clause.period || clause.is(1, "est sont etait etaient a sera seront"),
    }
}

/// A verb with its subject after a hyphen among the first words from `at` on: `habite-t-elle`.
fn inverted(clause: &Clause<'_>, at: usize) -> bool {
    clause.words.iter().skip(at).take(5).filter(|word| **word != "rendez-vous").any(|word| {
        word.split_once('-').is_some_and(|(verb, rest)| !verb.is_empty() && verb != "est" && ENCLITICS.contains(&rest))
            || word.strip_prefix("est-").is_some_and(|rest| ENCLITICS.contains(&rest))
    })
}

/// Whether a row of words, between spaces, asks for the conversation.
pub(super) fn about_talk(row: &str) -> Option<Said> {
    let has = |rows: &str| rows.split('|').any(|words| row.contains(&format!(" {} ", words.trim())));
    let person = "t ai demande|t ai-je demande|ai-je demande|vous ai demande|vous ai-je demande|j ai demande|t ai deja demande|t ai pose|t \
        ai-je pose|ai-je pose|ma question|mes questions|ma derniere question|mes dernieres questions|ma question precedente|ma \
        premiere question";
    let brain = "m as repondu|m as-tu repondu|as-tu repondu|tu as repondu|m avez repondu|m avez-vous repondu|m as dit|m as-tu dit|ta \
        reponse|tes reponses|ta derniere reponse|votre reponse|votre derniere reponse";
    let both = "avons-nous parle|a-t-on parle|on a parle|nous avons parle|parlions-nous|on parlait|notre conversation|nos conversations|\
        notre discussion|nos discussions|cette conversation|derniere conversation|avons-nous discute|on a discute";
    let asks = has(
        "que|qu|quoi|quel|quelle|quels|quelles|quand|combien|est-ce|montre-moi|rappelle-moi|dis-moi|resume|repete|liste|ai-je|as-tu",
    );
    match () {
        () if !asks => None,
        () if has(person) => Some(Said::ByPerson),
        () if has(brain) => Some(Said::ByBrain),
        () => has(both).then_some(Said::ByBoth),
    }
}
