//! What validation costs: `validate_cost WHAT COUNT` repeats one thing, for callgrind to count its instructions.
//! WHAT: nothing (a type without rules), proven (rules that the bytes prove), decode, judged (decoded and judged),
//! refused (a value that breaks a rule, with its details), cel (a predicate over five fields), compile.

use std::hint::black_box;

use leat_rpc::call::Message;
use leat_rpc::cel::{Activation, Declarations, Program, Timestamp, Type, Value};
use leat_rpc::validate::{Guard, Mode};
use leat_schema::Sources;

const SCHEMA: &str = r#"
syntax = "proto3";
package shop;
import "buf/validate/validate.proto";
service Orders { rpc Place(Order) returns (Order); rpc Free(Plain) returns (Plain); }
message Order {
  string id = 1 [(buf.validate.field).string.uuid = true];
  string customer = 2 [(buf.validate.field).string = {min_len: 1, max_len: 64}];
  int64 amount = 3 [(buf.validate.field).int64 = {gt: 0, lte: 1000000}];
  Currency currency = 4 [(buf.validate.field).enum.defined_only = true];
  string mail = 5 [(buf.validate.field).string.email = true];
}
message Plain { string id = 1; string customer = 2; int64 amount = 3; Currency currency = 4; string mail = 5; }
enum Currency { NONE = 0; EUR = 1; USD = 2; }
"#;

const ORDER: &str = r#"{"id":"01234567-89ab-cdef-0123-456789abcdef","customer":"Ada Lovelace","amount":"1250","currency":"EUR","mail":"ada@example.com"}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let count: usize = arguments.next().unwrap_or_default().parse()?;
    let mut sources = Sources::new();
    sources.proto("shop.proto", SCHEMA);
    let schema = sources.build().map_err(|problems| format!("{problems:?}"))?;
    let guard = Guard::new(Mode::Auto, &schema).map_err(|problems| format!("{problems:?}"))?;
    let method = |name: &str| schema.method_named(name).ok_or("no method");
    let (place, free) = (method("shop.Orders/Place")?, method("shop.Orders/Free")?);
    let binary = |json: &str| -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut out = Vec::new();
        place.input().to_binary(json.as_bytes(), &mut out).map_err(|error| format!("{error:?}"))?;
        Ok(out)
    };
    let (right, wrong) = (binary(ORDER)?, binary(&ORDER.replace("1250", "-1"))?);
    let now = || Timestamp::at(1_700_000_000, 0);
    let mut names = Declarations::new(schema.pool());
    names.variable("request", Type::Message(place.input().index()));
    let source = "request.amount > 1000 && request.customer.startsWith('Ada') && request.currency == shop.Currency.EUR";
    let program = Program::compile(source, &names).map_err(|problem| problem.to_string())?;
    let decoded = place.input().decode(&right)?;
    for _ in 0..count {
        match what.as_str() {
            "nothing" => assert!(black_box(guard.request(free, Message::binary(black_box(&right)), now)).is_ok()),
            "proven" => assert!(black_box(guard.request(place, Message::binary(black_box(&right)), now)).is_ok()),
            "decode" => drop(black_box(place.input().decode(black_box(&right))?)),
            "judged" => {
                let decoded = place.input().decode(black_box(&right))?;
                assert!(guard.validators().validate(&decoded, now())?.is_empty());
            }
            "refused" => assert!(black_box(guard.request(place, Message::binary(black_box(&wrong)), now)).is_err()),
            "cel" => {
                let slots = [Value::message(black_box(&decoded))];
                assert_eq!(program.truth(&Activation::new(&slots)), Ok(true));
            }
            "compile" => {
                drop(black_box(Program::compile(black_box(source), &names)).map_err(|problem| problem.to_string())?)
            }
            other => return Err(format!("no such thing: {other}").into()),
        }
    }
    Ok(())
}
