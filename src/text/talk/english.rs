//! What asks and orders in English.

use super::{Act, Clause, Courtesy, Said};

/// Subjects of a statement.
pub(super) const SUBJECTS: &str = "i we he she they it there this that";
/// What a subject begins with.
pub(super) const POSSESSIVES: &str = "my our his her their your";

/// What goes before something that is told, whatever its form.
pub(super) const LEADS: &str = "can you believe it|can you believe this|would you believe it|you won t believe it|you won t believe this|believe it or \
    not|you know what|guess what|i have news";
/// How a remark about who listens, or about what was said, begins.
pub(super) const REMARKS: &str = "you re|you are|that s|that is|this is";

/// Words of a rule for all that comes.
pub(super) const STANDING: &str = "always|never|whenever|from now on|in future|in the future|by default|every time|each time|must not|must never|no longer|\
    don t ever|do not ever|make sure that";
/// Beginnings of what somebody is about to do.
pub(super) const PLANS: &str = "i will|i ll|i am going to|i m going to|let me|shall i|should i|would you like me";
/// Words before a rule.
pub(super) const BEFORE_RULE: &str = "please and but so also ok okay remember note important rule reminder";
/// Beginnings of what is ordered for all that comes.
pub(super) const ORDERS: &str = "use avoid prefer keep ensure";
/// Beginnings of what is forbidden, or asked for each time.
pub(super) const FORBIDS: &str = "do not|don t|never|always|make sure|no force|no direct|no new|no more";
/// Words that begin a rule wherever they stand.
pub(super) const FROM_NOW: &str = "from now on|every time you|each time you|whenever you|by default we|in future we";
/// Words before `always` and `never` in a rule.
pub(super) const OF_A_RULE: &str = "we you please must should shall to and but or developers agents everyone everybody";
/// Words behind `never` and `always` where something is told.
pub(super) const HAPPENED: &str =
    "seen been had was were is are did do came went heard got found knew saw made worked happened wins works will";
/// Words before `must` in a guess.
pub(super) const GUESSED: &str = "it that this he she there i they what which";
/// What people do with code. `use` is none: `use pnpm` is said once and holds.
pub(super) const TASKS: &str = "add fix commit undo redo run rerun go implement refactor rename remove delete drop update change move create make write \
    build install upgrade bump push merge rebase revert debug test deploy set replace extract split clean format lint check try retry continue \
    proceed start stop open close show print generate apply convert rewrite simplify finish squash cherry bisect inline wire hook";
/// Verbs that are ordered for all that comes, if they have a thing of any kind and a manner: `Write docs in Markdown`.
pub(super) const HABITS: &str = "write name format document test lint build deploy push merge commit create open run generate start log spell indent";
/// Verbs of giving words a form, behind whose manner `the` may stand.
pub(super) const FORMS: &str = "write name format document spell";
/// Words that begin a manner.
pub(super) const MANNERS: &str = "in with as by before after without on per";
/// What stands before an object of its own kind.
pub(super) const BEFORE_OBJECT: &str =
    "the a an this that these those my our your his her its their all every each some any no both another";
/// What stands before several things.
pub(super) const BEFORE_THINGS: &str =
    "several many few other others old new last first more two three four five recent long slow failed";
/// Objects by themselves.
pub(super) const OBJECT_PRONOUNS: &str = "me us him them everything everyone something anything sure";
/// Words that open a clause of their own.
pub(super) const SUBORDINATORS: &str = "that which who whom whose if whether because since when whenever where while until unless although \
    though so as than what how why before after then but";
/// Verbs that are finite wherever they have a subject.
pub(super) const FINITE: &str = "is are was were isn aren wasn weren has had hasn haven hadn does did doesn didn can could will would won \
    should shall may might must cannot couldn wouldn shouldn mustn";
/// Verbs of one subject, and of what was.
pub(super) const SINGULAR: &str = "have takes lives needs begins starts ends goes comes uses gets breaks fails works stays belongs contains \
    holds means lasts costs requires expects depends sits stands lies says knows keeps gives makes runs brings happens becomes remains seems \
    exists consists includes expires supports allows sends owns leads handles maintains matters relies refers ignores accepts rejects \
    closes opens follows differs took went came got began broke became gave made crashed failed happened expired arrived left";
/// Verbs of several subjects.
pub(super) const PLURAL: &str = "have take live need begin start end go come use get break fail work stay belong contain hold mean last cost \
    require expect depend sit stand lie say know keep give make run bring happen become remain seem exist consist include expire support \
    allow send own lead handle maintain matter rely refer ignore accept reject close open follow differ sell point";
/// Verbs of which no noun is made.
pub(super) const NO_NOUNS: &str =
    "add delete remove implement create install generate extract convert simplify apply undo write";
/// Verbs that have two objects.
pub(super) const GIVES: &str = "show write make set print send give tell";
/// Words that may stand between an object and `the` of what follows.
pub(super) const BETWEEN: &str = "in at on for with from to by about of into onto over under through per via and or nor not all both again \
    too now today twice once first next last also just only instead across between inside outside against like during within without";
/// Head nouns of the label of a rule.
pub(super) const LABELS: &str = "rule rules policy policies convention conventions guideline guidelines";
/// Words before the verb of a task.
pub(super) const BEFORE_TASK: &str =
    "please now then ok okay and also can could you just first next let s lets us pls maybe so";

/// Words that say no more than that something is asked, said, shown or known.
pub(super) const TALKING: &str = "ask asks asked asking question questions answer answers answered reply replied say says said saying \
    tell tells told telling talk talks talked talking speak spoke mention mentioned discuss discussed chat chatted conversation \
    show list find give explain describe summarise summarize summary translate repeat remind recall remember remembered forget \
    forgot forgotten know wonder wondering curious understand understood information info details idea clue help please sure \
    quick happen happened";

/// Words that name the kind of thing that is asked for.
pub(super) const KINDS: &str = "name names kind type sort colour color time date day year month place number age old person people long far \
    big tall high often size price cost amount reason \
    last first previous latest yesterday today tomorrow tonight week weeks";

/// Verbs without which few words are a search and no note: forms of being and having, errands, what has happened.
pub(super) const VERBS: &str = "is are was were am s m re has have had does did do can will must should likes loves hates needs wants lives \
    works buy call pay book bring fix clean send pick meet water feed return renew cancel check email write wash take ask finish \
    get go visit left lost sold bought went got met won came died born saw ate broke found gave made paid sent took told began";

/// Formulas that are polite as a whole.
pub(super) const FORMULAS: [(Courtesy, &str); 4] = [
    (
        Courtesy::Greeting,
        "how are you|how are you doing|how are you today|how is it going|how s it going|how do you do|what s up|whats up|how have you \
         been|are you there|anyone there|anybody there|nice to meet you",
    ),
    (Courtesy::Thanks, "much appreciated|that helps|that helps a lot|that helped"),
    (
        Courtesy::Farewell,
        "see you|see you soon|see you later|see you tomorrow|talk to you later|talk to you soon|talk to you tomorrow|take care|have a \
         nice day|have a good day|have a great day|have a nice weekend|have a good weekend|until next time|until tomorrow|that is \
         all|that s all",
    ),
    (
        Courtesy::Acknowledgement,
        "you know what|guess what|i see|got it|makes sense|that makes sense|no problem|no worries|never mind|you are welcome|you re welcome|sounds good|well \
         done|good job|great job|great work|nice work|lgtm|looks good|looks good to me|looks great|looks fine|ship it|go ahead|do it|go for it|that works|works for me|take your time|no rush|my bad|one moment|waiting|really|is that so|of course|i agree|i know|go on|and you|that is right|that s right",
    ),
];

/// Words of which one is polite.
pub(super) const POLITE: [(Courtesy, &str); 4] = [
    (
        Courtesy::Greeting,
        "hi hello hey hiya howdy greetings morning afternoon evening yo hallo hola ciao guten tag morgen buenos dias servus moin",
    ),
    (
        Courtesy::Thanks,
        "thanks thank thx ty cheers appreciate appreciated grateful danke gracias grazie obrigado tak tack",
    ),
    (Courtesy::Farewell, "bye goodbye farewell night cya"),
    (
        Courtesy::Acknowledgement,
        "ok okay k yes yeah yep yup no nope nah sure right alright fine great nice cool perfect good awesome wonderful excellent \
         amazing brilliant lovely super understood exactly correct true wrong indeed absolutely definitely certainly sorry np stop oops wow \
         lol haha hmm hm ah oh interesting impressive helpful useful welcome congratulations done agreed please glad happy",
    ),
];

/// Names of those who are spoken to.
pub(super) const ADDRESSED: &str =
    "claude codex cursor copilot gemini chatgpt gpt agent assistant bot team folks guys all";

/// Words that may stand around polite ones.
pub(super) const AROUND: &str = "you so very much many a an lot lots for the your my that this it is was s re are i m am we all to too of and \
    then now again there here brain everyone friend friends help info information answer answers reply time day weekend tomorrow \
    today later soon see have has had take care well do be been just really not problem mind never got get know me great what how \
    everything job quick in with at helps helped work typo like";

const AUXILIARIES: &str = "is are was were am do does did has have had can could will would should shall may might must s re isn aren wasn \
    weren don doesn didn hasn haven hadn couldn wouldn shouldn won ain";
const PRONOUNS: &str =
    "i you u ya he she it we they there this that these those anyone anybody someone somebody everyone everybody any";
const DETERMINERS: &str = "the a an my your his her its our their some all";
const WH: &str = "what which whose who whom when where why how whats wheres whos hows whens";
const PREPOSITIONS: &str = "in at on for with from to by about of since until till during under near around through";
const MEASURES: &str = "many much old long far often big tall come about to high deep heavy wide late early soon well fast exactly hot cold \
    expensive large small";
/// What is shown or asked for: the objects of an order to somebody who knows.
const OBJECTS: &str = "me us my our all every everything everyone everybody any the his her their this these those that what which who where when \
    how why whether up for out again both each your it them";
/// Verbs that order only what is known to be shown, whatever follows.
const EXPLAINS: &str = "explain describe summarise proofread rewrite shorten suggest outline pretend imagine brainstorm summarize translate clarify elaborate define rephrase paraphrase enumerate compare continue \
    repeat";
/// Verbs that may as well be a note of what is to be done.
const SHOWS: &str = "show list find name count search print display recommend help look read";
/// Verbs of looking something up, which with a time are errands.
pub(super) const CHECKS: &str = "check verify confirm open sort order rank group filter highlight fetch pull retrieve google lookup analyse analyze review \
    examine inspect identify locate pinpoint determine calculate compute estimate quote cite";
/// Verbs of making a text, which with a time are errands.
const MAKES: &str = "write draft compose generate create make prepare invent design";
/// Works that are made of words.
const WORKS: &str = "poem poems story stories email emails mail summary list lists table haiku song essay letter text joke jokes outline timeline plan \
    overview report tweet headline title slogan function script program code paragraph message reply answer limerick";
const KEEPS: &str = "remember note keep save store memorise memorize record";

/// What a clause does by the way it begins.
pub(super) fn opens(clause: &Clause<'_>) -> Option<Act> {
    if keeps(clause, 0) {
        return Some(Act::Told);
    }
    if clause.begins("did you know that") && clause.words.len() > 5 {
        return Some(Act::Told);
    }
    let first = clause.word(0);
    let aux = |at: usize| clause.is(at, AUXILIARIES);
    if clause.is(0, WH) {
        return wh(clause).then_some(Act::Question);
    }
    if clause.is(0, PREPOSITIONS) && clause.is(1, "what which whom whose where when") && (clause.period <= aux(2)) {
        return Some(Act::Question);
    }
    if clause.is(0, "can could would will") && clause.word(1) == "you" {
        return Some(if keeps(clause, 2) { Act::Told } else { Act::Order });
    }
    if aux(0) && inverted(clause) {
        return Some(Act::Question);
    }
    let wonders = "i want to know|i would like to know|i d like to know|i d love to know|i need to know|i wonder|i was wondering|i am \
        wondering|i m wondering|i am curious|i m curious|any idea|any news|any chance|anything about|anything on|anything new|do you";
    if clause.begins(wonders) || forgotten(clause) {
        return Some(Act::Question);
    }
    if first == "you" && clause.word(1) == "know" && clause.is(2, WH) && clause.words.len() > 3 {
        return Some(Act::Question);
    }
    if clause.begins("i want you to|i would like you to|i d like you to|i need you to") {
        let verb = clause.words.iter().position(|word| *word == "to").map_or(0, |at| at + 1);
        let knows = clause.is(verb, "know") && clause.words.len() > verb + 3 && !clause.is(verb + 1, WH);
        return Some(if knows || keeps(clause, verb) { Act::Told } else { Act::Order });
    }
    // `Marcus is allergic to what exactly`.
    let last = clause.words.len().saturating_sub(1 + usize::from(clause.words.last() == Some(&"exactly")));
    if last > 1 && clause.is(last, WH) && clause.is(last - 1, PREPOSITIONS) {
        return Some(Act::Question);
    }
    order(clause).then_some(Act::Order)
}

/// `Remember that …`, `don't forget …`, `remind me to …`: it tells something, whatever it asks for.
fn keeps(clause: &Clause<'_>, at: usize) -> bool {
    let not = clause.is(at, "don do") && clause.is(at + 1, "t not");
    let at = if clause.is(at, "please also") { at + 1 } else { at };
    if not && clause.word(at + 2) == "forget" {
        return true;
    }
    if clause.is(at, "remind tell") && clause.is(at + 1, "me us") {
        return clause.word(at) == "remind" && clause.is(at + 2, "to that");
    }
    let kept = clause.is(at, KEEPS) || clause.begins("write down|make a note|take note|take a note") && at == 0;
    kept && !clause.is(at + 1, "what which who whom whose where when why how if whether me")
        && clause.words.len() > at + 1
}

fn wh(clause: &Clause<'_>) -> bool {
    let aux = |at: usize| clause.is(at, AUXILIARIES);
    let subject = clause.is(1, "i we he she they you it");
    match clause.word(0) {
        "whats" | "wheres" | "whos" | "hows" | "whens" => true,
        _ if aux(1) => true,
        "what" | "which" | "whose" => !clause.period && !subject && !clause.is(1, "a an"),
        "who" | "whom" => !clause.period && !subject,
        "how" => clause.is(1, MEASURES) && (!clause.period || (2..6).any(aux)) || clause.words.len() == 1,
        "why" => clause.is(1, "not no") || !clause.period && !subject,
        // `Where the key is`, as people type it into a search; but `where I live it rains`.
        _ => clause.words.len() == 1 || !clause.period && clause.is(1, "the my to exactly") && clause.words.len() < 7,
    }
}

/// `Is Anna …`, `did she …`; but `will is my brother`, `may 5`, `do the dishes`.
fn inverted(clause: &Clause<'_>) -> bool {
    let negated = clause.is(1, "t not n't");
    let at = 1 + usize::from(negated);
    let subject = clause.is(at, PRONOUNS);
    let named = clause.is(at, DETERMINERS) || clause.capital(at);
    match clause.word(0) {
        "s" | "re" => false,
        "won" | "haven" | "don" if negated && named => true,
        "do" | "don" | "have" | "haven" | "won" | "ain" => subject && !clause.is(at, "this that these those it any"),
        // `Will Parker called`: a name.
        "can" | "could" | "will" | "would" | "should" | "shall" | "may" | "might" | "must" | "had" | "am" => {
            subject || named && !clause.period && !(clause.capital(at) && clause.word(at + 1).ends_with("ed"))
        }
        // `Was in Prague`, `are moving to Lille`: who is left out.
        _ if !negated
            && (clause.is(1, PREPOSITIONS) || clause.word(1).ends_with("ing") && clause.is(2, PREPOSITIONS)) =>
        {
            false
        }
        _ if negated => subject || named,
        _ => !clause.word(1).is_empty() && !clause.is(1, AUXILIARIES) && (!clause.period || subject || named),
    }
}

/// `I forgot where …`, `I don't know who …`.
fn forgotten(clause: &Clause<'_>) -> bool {
    if clause.word(0) != "i" {
        return false;
    }
    let not = |at: usize| clause.words[..at].iter().any(|word| ["t", "not", "never", "cannot"].contains(word));
    (1..clause.words.len().min(7)).any(|at| {
        let asks = clause.is(at + 1, WH) || clause.is(at + 1, "if whether");
        let lost = clause.is(at, "forgot forget forgotten wonder wondering");
        asks && (lost || clause.is(at, "know remember recall understand") && not(at))
    })
}

fn order(clause: &Clause<'_>) -> bool {
    let more = clause.words.len() > 1;
    match clause.word(0) {
        "tell" | "give" | "teach" | "remind" | "send" | "get" => clause.is(1, "me us"),
        "forget" | "delete" | "erase" => clause.is(1, OBJECTS) || clause.is(1, "the a about what it everything"),
        "let" => {
            clause.is(1, "me us") && clause.is(2, "know see")
                || clause.is(1, "s us") && clause.is(2, "talk chat discuss")
        }
        first if MAKES.split_whitespace().any(|verb| verb == first) => {
            let of_words = (2..6).any(|at| clause.is(at, WORKS));
            (clause.is(1, "me us") || clause.is(1, "it them this that") && clause.words.len() < 5 && !clause.is_timed())
                || of_words && clause.is(1, "a an the another some my this") && !clause.is_timed()
        }
        "find" => clause.is(1, OBJECTS) && !clause.is(1, "for up"),
        "recall" => more && clause.word(1) != "that",
        first if SHOWS.split_whitespace().any(|verb| verb == first) => clause.is(1, OBJECTS),
        first if CHECKS.split_whitespace().any(|verb| verb == first) => {
            (clause.is(1, OBJECTS) || clause.word(1) == "if") && !clause.is_timed()
        }
        first => EXPLAINS.split_whitespace().any(|verb| verb == first),
    }
}

/// Whether a row of words, between spaces, asks for the conversation.
pub(super) fn about_talk(row: &str) -> Option<Said> {
    let has = |rows: &str| rows.split('|').any(|words| row.contains(&format!(" {} ", words.trim())));
    let person = "did i ask|have i asked|had i asked|i asked you|i ask you|did i want to know|did i say to you|did i say|did i order|\
        my question|my questions|my last question|my last questions|my previous question|my previous questions|my first question|\
        was i asking|have i been asking|did i already ask|did i just ask|did i write";
    let brain = "did you answer|have you answered|you answered|did you say|did you reply|did you tell|have you told|you told me|your \
        answer|your answers|your last answer|your previous answer|your last answers|your reply|you replied";
    let both = "our conversation|our conversations|our chat|our chats|did we talk|did we discuss|did we chat|have we talked|have we \
        discussed|were we talking|were we discussing|we talked about|we discussed|this conversation|our last conversation|our \
        previous conversation|last conversation";
    let asks =
        has("what|which|when|how|did|have|was|were|show|list|repeat|summarise|summarize|tell me|remind me|recall");
    match () {
        () if !asks => None,
        () if has(person) => Some(Said::ByPerson),
        () if has(brain) => Some(Said::ByBrain),
        () => has(both).then_some(Said::ByBoth),
    }
}
