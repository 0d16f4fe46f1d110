//! Proves from a message's wire bytes that it keeps its rules, without decoding it: what most requests do. Where that cannot
//! be proven (a rule in CEL, a map, a value that breaks a rule) the message is decoded and judged.

use buffa::editions::{EnumType, FieldPresence};
use buffa_descriptor::{FieldKind, ScalarType, SingularKind};
use leat_schema::wire::{Reader, WireType, unzigzag};

use super::check::Datum;
use super::plan::{FieldPlan, Inner, Plan, ValuePlan};

/// The most fields with rules of a message that is looked at so: their presence is a word's bits.
const FIELDS_MAX: usize = 32;

/// The deepest message that is followed; deeper ones are decoded, which has a bound of its own.
const DEPTH_MAX: usize = 32;

/// How the values of a field stand on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quick {
    read: Read,
    /// One element of many.
    many: bool,
    /// Whether a field that is not there keeps its rules.
    absent_passes: bool,
    /// Whether a zero is as good as nothing.
    implicit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Scalar(ScalarType),
    Enum,
    Message,
}

/// The ways to read the fields of a plan, in their order; none where the plan asks for more.
pub(super) fn quick(plan: &Plan) -> Option<Vec<Quick>> {
    let simple =
        plan.problem.is_none() && plan.expressions.is_empty() && plan.exclusive.is_empty() && plan.oneofs.is_empty();
    if !simple || plan.fields.len() > FIELDS_MAX {
        return None;
    }
    plan.fields.iter().map(field).collect()
}

fn field(plan: &FieldPlan) -> Option<Quick> {
    let field = &plan.descriptor;
    let (kind, many) = match field.kind() {
        FieldKind::Singular(kind) => (kind, false),
        FieldKind::List(kind) => (kind, true),
        FieldKind::Map { .. } => return None,
    };
    let own = &plan.value;
    let items = match &own.inner {
        Inner::Items(items) if many => Some(&**items),
        _ => None,
    };
    let plain = |value: &ValuePlan| value.expressions.is_empty() && value.any.is_none();
    // Members of oneofs unset each other; closed enums make unknown values no values; groups have no length.
    let hard = field.oneof_index().is_some() && plan.required.is_some()
        || field.is_delimited()
        || field.enum_type() == Some(EnumType::Closed);
    if hard || !plain(own) || !items.is_none_or(plain) {
        return None;
    }
    let read = match kind {
        SingularKind::Message(_) => Read::Message,
        SingularKind::Enum(_) => Read::Enum,
        SingularKind::Scalar(scalar) => Read::Scalar(scalar),
    };
    let element = items.unwrap_or(own);
    let packable = !matches!(read, Read::Message | Read::Scalar(ScalarType::String | ScalarType::Bytes));
    let judged_message = read == Read::Message && (!element.checks.is_empty() || !element.guarded.is_empty());
    if many && packable || judged_message && (items.is_some() || !many) {
        return None;
    }
    let implicit = field.presence() == FieldPresence::Implicit;
    let zero = match read {
        Read::Scalar(ScalarType::String) => Some(Datum::Text("")),
        Read::Scalar(ScalarType::Bytes) => Some(Datum::Bytes(&[])),
        Read::Scalar(ScalarType::Bool) => Some(Datum::Bool(false)),
        Read::Scalar(ScalarType::Float | ScalarType::Double) => Some(Datum::Real(0.0)),
        Read::Message => None,
        _ => Some(Datum::Whole(0)),
    };
    let absent_passes = plan.required.is_none()
        && (plan.skips_unset
            || match zero {
                _ if many => passes(own, Datum::List(&[])),
                Some(zero) => passes(own, zero),
                None => true,
            });
    Some(Quick { read, many, absent_passes, implicit })
}

/// Whether the value keeps the rules for certain.
fn passes(plan: &ValuePlan, datum: Datum<'_>) -> bool {
    let defined = match (&plan.defined_only, datum) {
        (None, _) => true,
        (Some((numbers, _)), Datum::Whole(number)) => {
            i32::try_from(number).is_ok_and(|number| numbers.binary_search(&number).is_ok())
        }
        (Some(_), _) => false,
    };
    defined && plan.checks.iter().all(|check| check.passes(datum))
}

/// Whether the message in `bytes` keeps the rules of `plan` for certain.
pub(super) fn proves(plans: &[Plan], plan: &Plan, bytes: &[u8]) -> bool {
    follow(plans, plan, bytes, 0).is_some()
}

fn follow(plans: &[Plan], plan: &Plan, bytes: &[u8], depth: usize) -> Option<()> {
    let quick = plan.quick.as_deref().filter(|_| depth < DEPTH_MAX)?;
    let mut counts = [0_usize; FIELDS_MAX];
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let tag = reader.tag()?;
        let Some(place) = plan.fields.iter().position(|field| field.descriptor.number() == tag.number) else {
            reader.skip(tag)?;
            continue;
        };
        let (field, how) = (plan.fields.get(place)?, quick.get(place)?);
        let count = counts.get_mut(place)?;
        // The last one wins, and messages merge: a second one is not looked at here.
        if *count > 0 && !how.many {
            return None;
        }
        let value = match &field.value.inner {
            Inner::Items(items) => items,
            _ => &field.value,
        };
        if how.read == Read::Message {
            (tag.wire == WireType::Length).then_some(())?;
            let inner = reader.length_delimited()?;
            if let Inner::Message(place) = &value.inner {
                follow(plans, plans.get(*place)?, inner, depth + 1)?;
            }
        } else {
            let datum = read(&mut reader, tag.wire, how.read)?;
            let zero = datum.is_zero();
            if how.implicit && !how.many && zero {
                // As if it were not there.
                continue;
            }
            let left_alone = how.many && (value.skips_zero && zero || !matches!(field.value.inner, Inner::Items(_)));
            if !left_alone && !passes(value, datum) {
                return None;
            }
        }
        *count += 1;
    }
    for ((field, how), count) in plan.fields.iter().zip(quick).zip(counts) {
        match count {
            0 if !how.absent_passes => return None,
            0 => {}
            count if how.many && !passes(&field.value, Datum::Size(count)) => return None,
            _ => {}
        }
    }
    Some(())
}

fn read<'a>(reader: &mut Reader<'a>, wire: WireType, how: Read) -> Option<Datum<'a>> {
    use ScalarType as S;
    let scalar = match how {
        Read::Scalar(scalar) => scalar,
        Read::Enum => S::Int32,
        Read::Message => return None,
    };
    let expected = match scalar {
        S::String | S::Bytes => WireType::Length,
        S::Double | S::Fixed64 | S::Sfixed64 => WireType::Fixed64,
        S::Float | S::Fixed32 | S::Sfixed32 => WireType::Fixed32,
        _ => WireType::Varint,
    };
    (wire == expected).then_some(())?;
    #[allow(clippy::cast_possible_truncation)]
    Some(match scalar {
        S::String => Datum::Text(std::str::from_utf8(reader.length_delimited()?).ok()?),
        S::Bytes => Datum::Bytes(reader.length_delimited()?),
        S::Double => Datum::Real(f64::from_bits(reader.fixed64()?)),
        S::Float => Datum::Real(f32::from_bits(reader.fixed32()?).into()),
        S::Fixed64 => Datum::Whole(reader.fixed64()?.into()),
        S::Sfixed64 => Datum::Whole(reader.fixed64()?.cast_signed().into()),
        S::Fixed32 => Datum::Whole(reader.fixed32()?.into()),
        S::Sfixed32 => Datum::Whole(reader.fixed32()?.cast_signed().into()),
        S::Bool => Datum::Bool(reader.varint()? != 0),
        S::Uint64 => Datum::Whole(reader.varint()?.into()),
        S::Uint32 => Datum::Whole((reader.varint()? as u32).into()),
        S::Int64 => Datum::Whole(reader.varint()?.cast_signed().into()),
        S::Int32 => Datum::Whole((reader.varint()? as u32).cast_signed().into()),
        S::Sint64 => Datum::Whole(unzigzag(reader.varint()?).into()),
        S::Sint32 => Datum::Whole((unzigzag((reader.varint()? as u32).into()) as i32).into()),
    })
}
