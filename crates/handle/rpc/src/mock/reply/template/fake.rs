//! Made-up data: names, addresses, numbers and the like, from draws that follow from the seed.

use std::cell::RefCell;

use crate::cel::{Named, Timestamp, Value};
use crate::mock::state::Draws;

const FIRST: &[&str] = &[
    "Ada", "Alan", "Amara", "Bjarne", "Chen", "Dennis", "Edsger", "Elif", "Grace", "Hedy", "Imani", "Ines", "Jun",
    "Kofi", "Lena", "Linus", "Margaret", "Mei", "Nadia", "Niklaus", "Omar", "Priya", "Radia", "Rosa", "Sami", "Sofia",
    "Tomas", "Vera", "Wanda", "Yuki",
];
const LAST: &[&str] = &[
    "Abara", "Ahmed", "Berg", "Castro", "Dijkstra", "Evans", "Fischer", "Garcia", "Haddad", "Hopper", "Ivanov",
    "Jansen", "Kim", "Kowalska", "Larsen", "Lovelace", "Moreau", "Nakamura", "Novak", "Okafor", "Perlman", "Quist",
    "Rossi", "Sato", "Schmidt", "Singh", "Turing", "Ueda", "Varga", "Wang", "Yilmaz", "Zhou",
];
const WORDS: &[&str] = &[
    "amber", "anchor", "apple", "arrow", "autumn", "basin", "birch", "bridge", "candle", "canyon", "cedar", "cloud",
    "copper", "coral", "delta", "ember", "falcon", "field", "forest", "garden", "granite", "harbor", "hazel", "island",
    "ivory", "juniper", "lantern", "ledger", "linen", "maple", "marble", "meadow", "mill", "mirror", "north", "ocean",
    "olive", "orchid", "paper", "pebble", "pine", "planet", "quartz", "quiet", "raven", "river", "saffron", "silver",
    "signal", "spring", "stone", "summit", "timber", "valley", "velvet", "water", "willow", "winter", "yellow",
    "zenith",
];
const CITIES: &[&str] = &[
    "Accra",
    "Amsterdam",
    "Athens",
    "Bogota",
    "Cairo",
    "Dakar",
    "Dublin",
    "Hanoi",
    "Helsinki",
    "Istanbul",
    "Kyoto",
    "Lagos",
    "Lima",
    "Lisbon",
    "Lyon",
    "Montreal",
    "Nairobi",
    "Oslo",
    "Porto",
    "Prague",
    "Quito",
    "Riga",
    "Seoul",
    "Turin",
    "Vienna",
    "Warsaw",
];
const COUNTRIES: &[(&str, &str)] = &[
    ("BR", "Brazil"),
    ("CA", "Canada"),
    ("CL", "Chile"),
    ("DE", "Germany"),
    ("DK", "Denmark"),
    ("EG", "Egypt"),
    ("ES", "Spain"),
    ("FI", "Finland"),
    ("FR", "France"),
    ("GH", "Ghana"),
    ("IE", "Ireland"),
    ("IN", "India"),
    ("IT", "Italy"),
    ("JP", "Japan"),
    ("KE", "Kenya"),
    ("MX", "Mexico"),
    ("NG", "Nigeria"),
    ("NL", "Netherlands"),
    ("NO", "Norway"),
    ("PE", "Peru"),
    ("PL", "Poland"),
    ("PT", "Portugal"),
    ("SE", "Sweden"),
    ("TR", "Turkey"),
    ("VN", "Vietnam"),
    ("ZA", "South Africa"),
];
const STREETS: &[&str] = &["Avenue", "Lane", "Road", "Square", "Street", "Way"];
const COMPANIES: &[&str] = &["Works", "Labs", "Systems", "Trading", "Logistics", "Foods", "Partners", "Studio"];
const JOBS: &[&str] = &[
    "Analyst",
    "Architect",
    "Baker",
    "Carpenter",
    "Chemist",
    "Designer",
    "Driver",
    "Editor",
    "Electrician",
    "Engineer",
    "Farmer",
    "Nurse",
    "Pilot",
    "Plumber",
    "Surveyor",
    "Teacher",
    "Translator",
];
const COLORS: &[&str] =
    &["black", "blue", "brown", "cyan", "green", "grey", "orange", "pink", "purple", "red", "white"];
const CURRENCIES: &[&str] = &["BRL", "CAD", "CHF", "DKK", "EUR", "GBP", "INR", "JPY", "NOK", "PLN", "SEK", "USD"];

/// Makes a value.
type Make = fn(&mut Draws) -> Value<'static>;

/// What `fake` has: the name of each, and what it makes.
pub(super) const FAKES: &[(&str, Make)] = &[
    ("first_name", |draws| word(pick(draws, FIRST))),
    ("last_name", |draws| word(pick(draws, LAST))),
    ("name", |draws| text(format!("{} {}", pick(draws, FIRST), pick(draws, LAST)))),
    ("username", |draws| text(format!("{}{}", pick(draws, WORDS), draws.between(1, 999)))),
    ("email", |draws| {
        let (first, last) = (pick(draws, FIRST), pick(draws, LAST));
        text(format!("{}.{}@example.com", first.to_lowercase(), last.to_lowercase()))
    }),
    // The numbers that are kept free for fiction.
    ("phone", |draws| text(format!("+1-{}-555-01{:02}", draws.between(201, 989), draws.between(0, 99)))),
    ("job", |draws| word(pick(draws, JOBS))),
    ("company", |draws| text(format!("{} {}", pick(draws, LAST), pick(draws, COMPANIES)))),
    ("city", |draws| word(pick(draws, CITIES))),
    ("country", |draws| word(pick(draws, COUNTRIES).1)),
    ("country_code", |draws| word(pick(draws, COUNTRIES).0)),
    ("street", |draws| text(street(draws))),
    ("zip", |draws| text(format!("{:05}", draws.between(501, 99_950)))),
    ("address", |draws| text(format!("{}, {}", street(draws), pick(draws, CITIES)))),
    ("latitude", |draws| Value::Double(draws.between(-90_000_000, 90_000_000) as f64 / 1e6)),
    ("longitude", |draws| Value::Double(draws.between(-180_000_000, 180_000_000) as f64 / 1e6)),
    ("domain", |draws| text(format!("{}.example", pick(draws, WORDS)))),
    ("url", |draws| text(format!("https://{}.example/{}", pick(draws, WORDS), pick(draws, WORDS)))),
    // Addresses for documentation: RFC 5737 and RFC 3849.
    ("ipv4", |draws| text(format!("203.0.113.{}", draws.between(1, 254)))),
    ("ipv6", |draws| text(format!("2001:db8::{:x}:{:x}", draws.between(1, 0xffff), draws.between(1, 0xffff)))),
    ("uuid", |draws| text(uuid(draws))),
    ("hex", |draws| text(format!("{:016x}", draws.wide()))),
    ("word", |draws| word(pick(draws, WORDS))),
    ("words", |draws| text(words(draws, 3))),
    ("sentence", |draws| text(sentence(draws))),
    ("paragraph", |draws| text((0..4).map(|_| sentence(draws)).collect::<Vec<_>>().join(" "))),
    ("color", |draws| word(pick(draws, COLORS))),
    ("currency", |draws| word(pick(draws, CURRENCIES))),
    ("price", |draws| Value::Double(draws.between(99, 99_999) as f64 / 100.0)),
    ("int", |draws| Value::Int(draws.between(0, i64::from(i32::MAX)))),
    ("digit", |draws| Value::Int(draws.between(0, 9))),
    ("percent", |draws| Value::Int(draws.between(0, 100))),
    ("float", |draws| Value::Double(draws.fraction())),
    ("bool", |draws| Value::Bool(draws.between(0, 1) == 1)),
    // Some moment of 2025: it does not depend on the clock, so that the same seed gives the same.
    ("date", |draws| Value::Timestamp(Timestamp::at(draws.between(1_735_689_600, 1_767_225_599), 0))),
];

/// The variable `fake`: each look-up makes another value.
#[derive(Debug)]
pub(super) struct Fakes<'d>(pub(super) &'d RefCell<Draws>);

impl Named for Fakes<'_> {
    fn get(&self, key: &str) -> Option<Value<'_>> {
        let (_, make) = FAKES.iter().find(|(name, _)| *name == key)?;
        Some(make(&mut self.0.borrow_mut()))
    }

    fn keys(&self) -> Vec<&str> {
        FAKES.iter().map(|(name, _)| *name).collect()
    }
}

/// One of a list; the lists here have some.
fn pick<T: Copy + Default>(draws: &mut Draws, list: &[T]) -> T {
    list.get(draws.index(list.len())).copied().unwrap_or_default()
}

fn word(word: &'static str) -> Value<'static> {
    Value::text(word)
}

fn text(text: String) -> Value<'static> {
    Value::String(text.into())
}

fn street(draws: &mut Draws) -> String {
    format!("{} {} {}", draws.between(1, 299), capital(pick(draws, WORDS)), pick(draws, STREETS))
}

fn words(draws: &mut Draws, count: usize) -> String {
    (0..count).map(|_| pick(draws, WORDS)).collect::<Vec<_>>().join(" ")
}

fn sentence(draws: &mut Draws) -> String {
    let count = draws.between(5, 9) as usize;
    format!("{}.", capital(&words(draws, count)))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Version 4 (RFC 9562 section 5.4).
fn uuid(draws: &mut Draws) -> String {
    let (high, low) = (draws.wide(), draws.wide());
    let (high, low) = (high & !0xf000 | 0x4000, low & !(0b11 << 62) | 0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
