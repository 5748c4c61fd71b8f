//! Words of statements and rules in Spanish.

/// Verbs that have a subject before them, with their accents: `está` is no `esta`.
pub(super) const FINITE: &str = "es era eran está están fue fueron será serán tiene tienen viene vienen lleva llevan requiere requieren \
    necesita necesitan tarda tardan vive viven puede pueden debe deben queda quedan empieza termina cuesta cuestan pertenece falla";
/// What stands before an object.
pub(super) const ARTICLES: &str = "el los las un una unos unas este esta esto estos estas todo todos todas me nos";
/// Verbs of what is forbidden, behind `no`.
pub(super) const ORDERS: &str = "uses use usen utilices utilice utilicen hagas haga hagan pongas ponga pongan ejecutes ejecute escribas escriba \
    subas suba toques toque borres borre cambies cambie instales instale confirmes empujes fusiones mezcles despliegues";
/// Words behind which something is told.
pub(super) const HAPPENED: &str = "he ha han hemos habia habian hay vi vimos fue era es esta estaba paso tuvo tuvimos llega llego falla fallan fallo funciona pasa sale";
/// Head nouns of the label of a rule.
pub(super) const LABELS: &str = "regla reglas norma normas convencion";
