//! The vocabulary of the documents, and sentences made of it.

use crate::Seed;

const NOUNS: &[&str] = &[
    "anchor",
    "basket",
    "bridge",
    "cellar",
    "ledger",
    "lantern",
    "meadow",
    "valve",
    "ferry",
    "orchard",
    "kettle",
    "compass",
    "pulley",
    "gasket",
    "hinge",
    "beacon",
    "quarry",
    "saddle",
    "trellis",
    "barge",
    "thermostat",
    "gearbox",
    "parcel",
    "invoice",
    "shuttle",
    "rudder",
    "vault",
    "canopy",
    "spindle",
    "turnstile",
    "crate",
    "chimney",
    "almanac",
    "notebook",
    "harbour",
    "sensor",
];
const VERBS: &[&str] = &[
    "moves", "opens", "checks", "lifts", "paints", "ships", "counts", "repairs", "follows",
    "measures", "stores", "empties", "replaces", "seals", "weighs", "records", "carries", "warms",
];
const ADJECTIVES: &[&str] = &[
    "old", "narrow", "quiet", "copper", "spare", "northern", "loose", "heavy", "pale", "second",
    "rusty", "early", "hollow", "steep", "warm", "blue", "empty", "worn",
];
const NAMES: &[&str] = &[
    "Maren", "Tobias", "Ilse", "Ravi", "Noor", "Aiko", "Bram", "Celeste", "Dario", "Edda", "Farid",
    "Greta", "Hugo", "Ines", "Jonas", "Katya",
];
const PLACES: &[&str] = &[
    "Tromsø", "Lübeck", "Ghent", "Oporto", "Zürich", "Kraków", "Bergen", "Malmö", "Nice", "Turku",
];

pub(super) fn pick(seed: &mut Seed, from: &[&'static str]) -> &'static str {
    seed.pick(from).copied().unwrap_or_default()
}

pub(super) fn noun(seed: &mut Seed) -> &'static str {
    pick(seed, NOUNS)
}

pub(super) fn verb(seed: &mut Seed) -> &'static str {
    pick(seed, VERBS)
}

pub(super) fn adjective(seed: &mut Seed) -> &'static str {
    pick(seed, ADJECTIVES)
}

pub(super) fn name(seed: &mut Seed) -> &'static str {
    pick(seed, NAMES)
}

pub(super) fn place(seed: &mut Seed) -> &'static str {
    pick(seed, PLACES)
}

/// Two or three words without punctuation.
pub(super) fn phrase(seed: &mut Seed) -> String {
    match seed.below(3) {
        0 => format!("{} {}", adjective(seed), noun(seed)),
        1 => format!("{} and {}", noun(seed), noun(seed)),
        _ => format!("{} {} {}", adjective(seed), adjective(seed), noun(seed)),
    }
}

/// A name of code: `spare_valve`, `spareValve` or `SpareValve`.
pub(super) fn identifier(seed: &mut Seed) -> String {
    let (first, second) = (adjective(seed), noun(seed));
    match seed.below(3) {
        0 => format!("{first}_{second}"),
        1 => format!("{first}{}", capital(second)),
        _ => format!("{}{}", capital(first), capital(second)),
    }
}

pub(super) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A sentence with a full stop.
pub(super) fn sentence(seed: &mut Seed) -> String {
    match seed.below(7) {
        0 => format!("The {} {} {} the {}.", adjective(seed), noun(seed), verb(seed), noun(seed)),
        1 => format!(
            "When {} {} the {}, nobody asks why; it's simply done.",
            name(seed),
            verb(seed),
            noun(seed)
        ),
        2 => format!(
            "{} lives in {} ({} km away), and doesn't mind the {}.",
            name(seed),
            place(seed),
            2 + seed.below(90),
            noun(seed)
        ),
        3 => {
            format!("Note: the {} costs {}.50, not {}.", noun(seed), seed.below(90), seed.below(90))
        }
        4 => format!(
            "First the {}, then the {}: both are {}!",
            noun(seed),
            noun(seed),
            adjective(seed)
        ),
        5 => format!(
            "Is the {} {} [see {}] or not?",
            noun(seed),
            adjective(seed),
            1 + seed.below(40)
        ),
        _ => format!("{}'s {} {} on Mondays.", name(seed), noun(seed), verb(seed)),
    }
}

/// So many sentences.
pub(super) fn paragraph(seed: &mut Seed, sentences: usize) -> String {
    let sentences: Vec<String> = (0..sentences).map(|_| sentence(seed)).collect();
    sentences.join(" ")
}

pub(super) fn date(seed: &mut Seed) -> String {
    format!("20{}-{:02}-{:02}", 10 + seed.below(20), 1 + seed.below(12), 1 + seed.below(28))
}

pub(super) fn time(seed: &mut Seed) -> String {
    format!("{:02}:{:02}:{:02}", seed.below(24), seed.below(60), seed.below(60))
}
