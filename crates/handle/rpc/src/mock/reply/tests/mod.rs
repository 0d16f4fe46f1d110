mod bounds;
mod driver;
mod faults;
mod messages;
mod problems;
mod several;
mod streams;
mod templates;
