//! Words of statements and rules in German. Without accents, as they are compared.

/// Verbs that have a subject before them.
pub(super) const FINITE: &str = "war waren hat kann konnen konnte muss mussen \
    soll sollen darf durfen liegt liegen lauft laufen kommt kommen braucht brauchen dauert dauern steht stehen heisst heißt gehort \
    gehoren fehlt fehlen funktioniert bleibt bleiben gilt gelten nutzt nutzen verwendet enthalt beginnt endet kostet kosten schlug \
    gibt bekommt bekommen schreibt schreiben";
/// The same, which are words of no other language.
pub(super) const FINITE_ALONE: &str = "ist sind wird werden wurde wurden haben hatte hatten";
/// Words that open a clause of their own.
pub(super) const SUBORDINATORS: &str = "dass wenn ob weil damit bevor nachdem wo wie was wer wir ich sie er du ihr";
/// What stands before an object.
pub(super) const ARTICLES: &str =
    "der das den dem ein eine einen einem diese diesen dieses dieser alle alles bitte mir uns";
/// Words of a rule.
pub(super) const STANDING: &str =
    "immer|nie|niemals|stets|kunftig|ab sofort|ab jetzt|von jetzt an|grundsatzlich|keinesfalls";
/// Words that begin a sentence before `immer`, and order nothing: of who tells what she sees, and of how often.
pub(super) const NO_ORDERS: &str = "bekomme kriege sehe finde habe hab hatte bin war weiss kann muss will mag glaube denke verstehe vergesse \
    erhalte brauche fast wie schon nur so ja nein doch und aber auch das es er sie ich wir du was wer wo warum wird hier da dann \
    jetzt heute werde wurde sind waren haben hatten gehe komme stehe vermutlich leider weil dass wenn also beinahe kaum sonst";
/// Words behind which something is told.
pub(super) const HAPPENED: &str = "gesehen gehabt gewesen passiert";
/// Beginnings of a statement.
pub(super) const SUBJECTS: &str = "ich er sie es das der die dies dieser diese mein meine";
/// Head nouns of the label of a rule.
pub(super) const LABELS: &str = "regel regeln teamregel grundregel konvention vorgabe";
/// Formulas that are polite as a whole.
pub(super) const FORMULAS: &str =
    "sieht gut aus|alles klar|passt|passt so|super gemacht|gute arbeit|mach das|mach weiter";
