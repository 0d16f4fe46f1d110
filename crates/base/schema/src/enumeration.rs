use std::collections::HashMap;

/// An enum of the schema.
#[derive(Clone, Debug)]
pub struct Enum {
    pub(crate) full_name: Box<str>,
    pub(crate) values: Box<[EnumValue]>,
    pub(crate) by_name: HashMap<Box<str>, i32>,
    /// Names of the numbers from 0 on, where there are no gaps; then `by_number` is not asked.
    pub(crate) dense: Box<[u32]>,
    pub(crate) by_number: HashMap<i32, u32>,
    pub(crate) closed: bool,
    pub(crate) null: bool,
}

/// A value of an enum.
#[derive(Clone, Debug)]
pub struct EnumValue {
    pub(crate) name: Box<str>,
    pub(crate) number: i32,
}

impl EnumValue {
    /// The name, as in the .proto file and in JSON.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number.
    pub fn number(&self) -> i32 {
        self.number
    }
}

impl Enum {
    /// From the values in the order of the .proto file.
    pub(crate) fn new(full_name: &str, values: impl Iterator<Item = (Box<str>, i32)>, closed: bool) -> Self {
        let values: Box<[EnumValue]> = values.map(|(name, number)| EnumValue { name, number }).collect();
        let by_name = values.iter().map(|value| (value.name.clone(), value.number)).collect();
        // Of several names for a number, JSON writes the first.
        let mut by_number = HashMap::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            by_number.entry(value.number).or_insert(at as u32);
        }
        let dense = (0..values.len() as i32).map_while(|number| by_number.get(&number).copied()).collect();
        let null = full_name == "google.protobuf.NullValue";
        Self { full_name: full_name.into(), values, by_name, dense, by_number, closed, null }
    }

    /// The full name.
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// The values in the order of the .proto file.
    pub fn values(&self) -> &[EnumValue] {
        &self.values
    }

    /// Whether numbers without a name are no values of it (proto2, or by a feature of editions). A field may differ
    /// ([`crate::Field::is_closed`]).
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether it is `google.protobuf.NullValue`, which JSON writes as null.
    pub(crate) fn is_null(&self) -> bool {
        self.null
    }

    /// The name of a number; the first one if it has several.
    #[inline]
    pub fn name_of(&self, number: i32) -> Option<&str> {
        let at = match usize::try_from(number).ok().and_then(|at| self.dense.get(at)) {
            Some(at) => at,
            None => self.by_number.get(&number)?,
        };
        self.values.get(*at as usize).map(|value| &*value.name)
    }

    /// The number of a name.
    pub fn number_of(&self, name: &str) -> Option<i32> {
        // Comparing a few names is cheaper than hashing one.
        if self.values.len() <= 8 {
            return self.values.iter().find(|value| *value.name == *name).map(EnumValue::number);
        }
        self.by_name.get(name).copied()
    }

    /// What a field that is not there has: 0, or with a closed enum the first value.
    pub fn first(&self) -> i32 {
        self.values.first().map_or(0, EnumValue::number)
    }
}
