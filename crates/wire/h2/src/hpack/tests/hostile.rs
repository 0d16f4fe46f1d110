//! What a peer may try: every answer is a refusal with its reason, and none takes more than its block is worth.

use super::*;
use crate::hpack::dynamic_table::{DynamicTable, Name};

fn refused(bytes: &[u8]) -> Option<DecodeError> {
    decode(&mut Decoder::new(4_096), bytes).err()
}

#[test]
fn integers_reach_to_32_bits() {
    let mut decoder = Decoder::new(u32::MAX);
    assert_eq!(decode(&mut decoder, &hex("3f e0ff ffff 0f")), Ok(vec![]));
    assert_eq!(decoder.table().size_max(), u32::MAX as usize);
    assert_eq!(decode(&mut decoder, &hex("3f e1ff ffff 0f")), Err(DecodeError::Integer));
}

#[test]
fn what_is_cut_off_anywhere_is_refused() {
    // One field of each kind: where one ends, the block may.
    let block = hex("3f21 82 0401 2f 4001 6101 62 1001 6381 1f be 0f0d 0161");
    assert_eq!(decode(&mut Decoder::new(4_096), &block).map(|fields| fields.len()), Ok(6));
    let whole: Vec<usize> = (0..=block.len()).filter(|&len| refused(&block[..len]).is_none()).collect();
    assert_eq!(whole, [0, 2, 3, 6, 11, 16, 17, 21]);
    for len in (0..block.len()).filter(|len| !whole.contains(len)) {
        assert_eq!(refused(&block[..len]), Some(DecodeError::Truncated), "{len}");
    }
}

#[test]
fn a_list_beyond_its_limit_is_told_at_the_end_and_the_table_stays_in_step() {
    let mut decoder = Decoder::new(4_096);
    let mut block = hex("40 01 61 7f d10e");
    block.extend_from_slice(&[b'x'; 2_000]);
    block.extend_from_slice(&[0xbe; 10_000]);
    block.extend_from_slice(&hex("40 01 62 01 63"));
    let mut told = 0;
    let result = decoder.decode(&block, 10_000, &mut |_, _, _| told += 1);
    assert_eq!((result, told), (Err(DecodeError::ListTooLong), 4));
    assert_eq!(decode(&mut decoder, &[0xbe]), Ok(vec![open("b", "c")]));
    assert_eq!(decode(&mut decoder, &[0xbf]).map(|fields| fields[0].1.len()), Ok(2_000));
}

#[test]
fn a_list_is_counted_with_its_overhead() {
    let block = hex("82 86 84");
    let size = [":methodGET", ":schemehttp", ":path/"].iter().map(|field| field.len() + 32).sum();
    assert_eq!(Decoder::new(4_096).decode(&block, size, &mut |_, _, _| {}), Ok(()));
    assert_eq!(Decoder::new(4_096).decode(&block, size - 1, &mut |_, _, _| {}), Err(DecodeError::ListTooLong));
}

#[test]
fn broken_bytes_after_too_long_a_list_end_the_connection_all_the_same() {
    assert_eq!(Decoder::new(4_096).decode(&hex("82 82 80"), 40, &mut |_, _, _| {}), Err(DecodeError::Index));
}

#[test]
fn a_field_larger_than_the_table_empties_it() {
    let mut decoder = Decoder::new(64);
    let mut block = hex("40 01 61 01 62 40 01 63 20");
    block.extend_from_slice(&[b'x'; 32]);
    assert_eq!(decode(&mut decoder, &block).map(|fields| fields.len()), Ok(2));
    assert_eq!((decoder.table().size(), decode(&mut decoder, &[0xbe])), (0, Err(DecodeError::Index)));
}

#[test]
fn a_name_may_come_from_the_field_that_leaves_for_it() {
    let mut decoder = Decoder::new(70);
    assert_eq!(decode(&mut decoder, &hex("40 04 6e616d65 01 61")), Ok(vec![open("name", "a")]));
    assert_eq!(decode(&mut decoder, &hex("7e 03 626364")), Ok(vec![open("name", "bcd")]));
    assert_eq!(decode(&mut decoder, &hex("be")), Ok(vec![open("name", "bcd")]));
    assert_eq!(decode(&mut decoder, &hex("bf")), Err(DecodeError::Index));
}

#[test]
fn updates_are_taken_up_to_the_setting_and_only_first() {
    let mut decoder = Decoder::new(4_096);
    let indexed = hex("40 01 61 01 62");
    decode(&mut decoder, &indexed).unwrap();
    // To 0 and back: the table is empty.
    assert_eq!(decode(&mut decoder, &hex("20 3fe11f be")), Err(DecodeError::Index));
    assert_eq!(decoder.table().size_max(), 4_096);
    assert_eq!(decode(&mut decoder, &hex("20")), Ok(vec![]));
    decode(&mut decoder, &indexed).unwrap();
    assert_eq!(decoder.table().size(), 0);
}

#[test]
fn a_setting_below_the_table_makes_an_update_due() {
    let with_setting = || {
        let mut decoder = Decoder::new(4_096);
        decoder.set_table_bytes_max(100);
        decoder
    };
    for (block, result) in [
        ("82", Err(DecodeError::TableSize)),
        ("3f46 82", Err(DecodeError::TableSize)),
        ("3f45 82", Ok(vec![open(":method", "GET")])),
        ("", Ok(vec![])),
    ] {
        assert_eq!(decode(&mut with_setting(), &hex(block)), result, "{block}");
    }
    let mut decoder = with_setting();
    assert_eq!(decode(&mut decoder, &hex("3f45")), Ok(vec![]));
    assert_eq!(decode(&mut decoder, &hex("82")), Ok(vec![open(":method", "GET")]), "it is due once");
}

#[test]
fn memory_is_bounded_by_the_table_however_many_fields_pass() {
    let (mut table, mut random) = (DynamicTable::new(4_096), Random(3));
    for round in 0..100_000 {
        let (name, value) = (random.below(60), random.below(if round % 2 == 0 { 20 } else { 1_500 }));
        table.insert(Name::Exact(&vec![b'n'; name]), &vec![b'v'; value]);
        assert!(table.size() <= 4_096 && table.buffer_bytes() <= 4 * 4_096, "{}", table.buffer_bytes());
    }
}

#[test]
fn numbers_may_pass_two_to_the_32nd() {
    let mut table = DynamicTable::starting_at(4_096, u32::MAX - 100);
    for round in 0..300_u32 {
        table.insert(Name::Exact(b"name"), &round.to_be_bytes());
        assert_eq!(table.get(0), Some((&b"name"[..], &round.to_be_bytes()[..])));
        let oldest = round.min(101);
        assert_eq!(table.get(oldest as usize), Some((&b"name"[..], &(round - oldest).to_be_bytes()[..])));
        assert_eq!(table.place_of(table.inserted().wrapping_sub(1)), 0);
    }
}
