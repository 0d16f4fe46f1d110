//! Expressions over one message, as a table: what they yield, what they fail with, what is refused before they run.

use leat_schema::Sources;

use super::*;

const SCHEMA: &str = r#"
syntax = "proto2";
package shop;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Color { NONE = 0; RED = 1; BLUE = 7; }
message Item { optional string sku = 1; optional int32 count = 2; }
message Order {
  enum State { OPEN = 2; SHUT = 3; }
  optional int32 id = 1;
  optional uint64 total = 2;
  optional double price = 3;
  optional float ratio = 4;
  optional string name = 5 [default = "anon"];
  optional bytes raw = 6 [default = "a\001"];
  optional bool paid = 7;
  optional Color color = 8;
  optional State state = 9;
  repeated int32 numbers = 10;
  repeated Item items = 11;
  map<string, int32> counts = 12;
  map<int32, Item> by_id = 13;
  optional Item item = 14;
  oneof way { string mail = 15; int32 door = 16; }
  optional google.protobuf.StringValue note = 17;
  optional google.protobuf.Int64Value amount = 18;
  optional google.protobuf.Timestamp at = 19;
  optional google.protobuf.Duration took = 20;
  optional google.protobuf.Any any = 21;
  optional google.protobuf.Struct extra = 22;
  optional google.protobuf.Value value = 23;
  optional string unset_text = 24;
  optional string userName = 25 [json_name = "user"];
  repeated string in = 26;
}
"#;

const ORDER: &str = r#"{
  "id": 7, "total": "18446744073709551615", "price": 2.5, "ratio": 0.5, "paid": true, "color": "BLUE",
  "numbers": [3, 1, 2], "items": [{"sku": "a", "count": 2}, {"sku": "b"}],
  "counts": {"x": 1, "y": 2}, "byId": {"5": {"sku": "five"}}, "mail": "a@b.c", "amount": "0",
  "at": "2024-02-29T12:30:45.250Z", "took": "90.5s",
  "any": {"@type": "type.googleapis.com/shop.Item", "sku": "packed", "count": 4},
  "extra": {"k": [1, "two", null]}, "value": "dynamic", "in": ["x"]
}"#;

fn evaluated(source: &str) -> Result<String, String> {
    let mut sources = Sources::new();
    sources.proto("shop.proto", SCHEMA);
    let schema = sources.build().expect("the schema");
    let message = schema.message("shop.Order").expect("the message");
    let order = buffa_descriptor::reflect::DynamicMessage::from_json(schema.pool().clone(), message.index(), ORDER)
        .expect("the order");
    let mut names = Declarations::new(schema.pool());
    names
        .variable("request", Type::Message(message.index()))
        .variable("metadata", Type::map(Type::String, Type::String));
    names.variable("calls", Type::Int).variable("any", Type::Dyn);
    let program = Program::compile(source, &names).map_err(|problem| format!("refused {problem}"))?;
    let metadata = Metadata;
    let slots = [Value::message(&order), Value::named(&metadata), Value::Int(3), Value::Uint(9)];
    let result = program.evaluate(&Activation::new(&slots)).map_err(|error| format!("failed {error}"));
    result.map(|value| match value {
        Value::List(list) => list.iter().map(|each| call::text_of(&each)).collect::<Vec<_>>().join(","),
        other => call::text_of(&other),
    })
}

struct Metadata;

impl Named for Metadata {
    fn get(&self, key: &str) -> Option<Value<'_>> {
        (key == "tenant").then(|| Value::text("acme"))
    }

    fn keys(&self) -> Vec<&str> {
        vec!["tenant"]
    }
}

#[test]
fn expressions_yield() {
    let cases: &[(&str, &str)] = &[
        // Fields: kinds, defaults, presence.
        ("request.id", "7"),
        ("request.total", "18446744073709551615"),
        ("request.price + double(request.ratio)", "3"),
        ("request.color", "7"),
        ("request.color == shop.Color.BLUE", "true"),
        ("request.state == shop.Order.State.OPEN", "true"),
        ("request.name", "anon"),
        ("request.raw == b'a\\x01'", "true"),
        ("request.unset_text == ''", "true"),
        ("request.userName == request.user && request.byId[5].sku == 'five'", "true"),
        ("has(request.id) && !has(request.name) && !has(request.item) && has(request.items)", "true"),
        ("has(request.mail) && !has(request.door)", "true"),
        ("request.item.sku", ""),
        ("has(request.item.sku)", "false"),
        ("request.items[0].count + request.items[1].count", "2"),
        ("getField(request, 'in')[0]", "x"),
        // Lists, maps, macros.
        ("request.numbers.size() == 3 && 2 in request.numbers && !(5 in request.numbers)", "true"),
        ("request.numbers.all(n, n > 0)", "true"),
        ("request.numbers.exists(n, n == 2)", "true"),
        ("request.numbers.exists_one(n, n > 1)", "false"),
        ("request.numbers.filter(n, n > 1)", "3,2"),
        ("request.numbers.map(n, n * 2)", "6,2,4"),
        ("request.numbers.map(n, n > 1, n * 2)", "6,4"),
        ("request.items.map(i, i.sku)", "a,b"),
        ("request.counts['x'] + request.counts.y", "3"),
        ("'x' in request.counts && !('z' in request.counts)", "true"),
        ("request.counts.all(k, k in ['x', 'y'])", "true"),
        ("request.by_id[5].sku", "five"),
        ("request.by_id[5u].sku", "five"),
        ("request.numbers.all(n, n < 10 || request.numbers.exists(m, m > n))", "true"),
        ("[1, 2] + [3]", "1,2,3"),
        ("{'a': 1}.a + {2: 3}[2]", "4"),
        ("size({'a': 1, 'b': 2})", "2"),
        // Well-known types.
        ("request.note == null", "true"),
        ("request.amount == 0", "true"),
        ("request.amount != null", "true"),
        ("request.at.getFullYear() * 10000 + (request.at.getMonth() + 1) * 100 + request.at.getDate()", "20240229"),
        ("request.at.getHours('+02:00')", "14"),
        ("request.at.getMilliseconds()", "250"),
        ("request.at.getDayOfWeek()", "4"),
        ("request.at + duration('1h') > timestamp('2024-02-29T13:00:00Z')", "true"),
        ("request.took", "90.5s"),
        ("request.took.getSeconds()", "90"),
        ("request.took == duration('1m30.5s')", "true"),
        ("string(request.at)", "2024-02-29T12:30:45.25Z"),
        ("request.any.sku + string(request.any.count)", "packed4"),
        ("request.any == shop.Item{sku: 'packed', count: 4}", "true"),
        ("type(request.any) == shop.Item", "true"),
        ("request.extra.k[0] + 1.0", "2"),
        ("request.extra.k[1]", "two"),
        ("request.extra.k[2] == null", "true"),
        ("request.value", "dynamic"),
        ("google.protobuf.Duration{seconds: 2} == duration('2s')", "true"),
        // The caller's variables.
        ("metadata.tenant", "acme"),
        ("metadata['tenant'].size()", "4"),
        ("has(metadata.tenant) && !has(metadata.other) && 'tenant' in metadata", "true"),
        ("calls < 4 && any == 9", "true"),
        // Operators.
        ("1 == 1u && 1 < 1.5 && 2u > 1 && 1.0 == 1", "true"),
        ("9007199254740993 == 9007199254740992.0", "false"),
        ("-request.id", "-7"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("7 % 4 - 7 / 2", "0"),
        ("true ? 'a' : 'b'", "a"),
        ("1 / 0 == 1 || true", "true"),
        ("false && 1 / 0 == 1", "false"),
        ("[0, 1].exists(x, 1 / x == 1)", "true"),
        ("[0, 1].all(x, 1 / x == 2)", "false"),
        ("(0.0 / 0.0) == (0.0 / 0.0)", "false"),
        ("[1, 2] == [1.0, 2u] && {'a': 1} == {'a': 1.0}", "true"),
        ("b'a' + b'b' == b'ab'", "true"),
        ("type(1) == int && type(type) == type", "true"),
        // Functions.
        ("'héllo'.size()", "5"),
        ("size(b'h\\xc3\\xa9')", "3"),
        ("'abc'.contains('b') && 'abc'.startsWith('a') && 'abc'.endsWith('c') && !'abc'.contains('d')", "true"),
        ("b'abc'.contains(b'b') && b'abc'.startsWith(b'a') && b'abc'.endsWith(b'c')", "true"),
        (r"'a1'.matches('^[a-z]\\d$') && matches('xay', 'a')", "true"),
        (r"'é'.matches('^\\w$')", "false"),
        (r"'é'.matches('^\\pL$')", "true"),
        ("int('-5') + int(2.9) + int(3u)", "0"),
        ("uint(5) == 5u && double('1.5') == 1.5", "true"),
        ("string(1.0) + string(true) + string(b'x') + string(5u)", "1truex5"),
        ("int(timestamp('1970-01-01T00:01:00Z'))", "60"),
        ("timestamp(60) == timestamp('1970-01-01T00:01:00Z')", "true"),
        ("timestamp('2023-01-01T00:00:00Z') - timestamp('2022-12-31T00:00:00Z') == duration('24h')", "true"),
        ("duration('-1.5s')", "-1.5s"),
        (
            "'%s is %d, %.2f, %x, %b, %o, %X, %e %%'.format(['a', 5, 1.0, 255, 5, 8, b'\\xff', 1500.0])",
            "a is 5, 1.00, ff, 101, 10, FF, 1.500000e+03 %",
        ),
        ("'%s'.format([[1, 'a', duration('1s')]])", "[1, a, 1s]"),
        ("'AbC'.lowerAscii() + 'AbC'.upperAscii() + ' x '.trim()", "abcABCx"),
        ("'a,b'.split(',')", "a,b"),
        ("['a', 'b'].join('-') + 'hello'.substring(1, 3) + 'hello'.replace('l', 'L') + 'hey'.charAt(1)", "a-belheLLoe"),
        ("'hello'.indexOf('l') + 'hello'.lastIndexOf('l')", "5"),
        // Protovalidate's.
        ("[1, 2, 1].unique() || ['a'].unique()", "true"),
        ("[1, 2, 1].unique()", "false"),
        ("request.items.unique() && (0.0 / 0.0).isNan() && (1.0 / 0.0).isInf(1) && !(1.0 / 0.0).isInf(-1)", "true"),
        ("'a@b.c'.isEmail() && 'a.b'.isHostname() && '::1'.isIp(6) && '10.0.0.0/8'.isIpPrefix(4, true)", "true"),
        ("'http://a/b?c#d'.isUri() && '../x'.isUriRef() && 'a:80'.isHostAndPort(true)", "true"),
    ];
    for (source, expected) in cases {
        assert_eq!(evaluated(source).as_deref(), Ok(*expected), "{source}");
    }
}

#[test]
fn evaluations_fail() {
    let cases: &[(&str, &str)] = &[
        ("1 / 0", "division by zero"),
        ("7 % (request.id - 7)", "division by zero"),
        ("9223372036854775807 + 1", "out of its type's range"),
        ("-9223372036854775808 - 1", "out of its type's range"),
        ("0u - 1u", "out of its type's range"),
        ("int(request.total)", "out of its type's range"),
        ("request.numbers[3]", "out of the list's bounds"),
        ("request.numbers[-1]", "out of the list's bounds"),
        ("request.counts['z']", "no key 'z'"),
        ("any.field", "does not take a value of type uint"),
        ("any + 'x'", "'+' does not take a value of type uint"),
        ("request.any.unknown", "no field 'unknown'"),
        ("int('x')", "the text is no int"),
        ("timestamp('yesterday')", "no timestamp"),
        ("request.at.getHours('Europe/Oslo')", "zone 'Europe/Oslo' is not known"),
        ("duration('1 hour')", "no duration"),
        ("{'a': 1, 'a': 2}", "the key 'a' stands twice"),
        ("string(b'\\xff')", "no UTF-8"),
        ("'%d'.format(['x'])", "'format' does not take a value of type string"),
        ("'%s %s'.format([1])", "out of the list's bounds"),
        ("[1, 2, 3].all(x, 1 / (x - 2) < 5)", "division by zero"),
        ("metadata.other", "no key 'other'"),
    ];
    for (source, expected) in cases {
        let result = evaluated(source);
        let failed = result.as_ref().err().is_some_and(|text| text.starts_with("failed ") && text.contains(expected));
        assert!(failed, "{source}: {result:?}, not {expected}");
    }
}

#[test]
fn compilation_refuses() {
    let cases: &[(&str, &str)] = &[
        ("request.", "1:9"),
        ("request.nme == 'x'", "1:8: shop.Order has no field 'nme'; its fields are: id, total"),
        ("true &&\n  reqest.id == 1", "2:"),
        ("reqest.id == 1", "'reqest.id' is not declared; variables are: request, metadata, calls, any"),
        ("foo", "'foo' is not declared"),
        ("request.id + 'x'", "there is no int + string"),
        ("request.id == 'x'", "int == string is never of use"),
        ("request.id < 'x'", "no order int < string"),
        ("!request.id", "a bool must stand here, not a value of type int"),
        ("request.id && true", "a bool must stand here"),
        ("request.id.size()", "'size' does not take (int)"),
        ("request.name.lenght()", "there is no function 'lenght'"),
        ("request.name.startswith('x')", "write 'startsWith'"),
        ("request.name.matches('(')", "the pattern is not valid"),
        ("request.id.all(x, true)", "a macro walks a list or a map"),
        ("request.id.x", "a value of type int has no field 'x'"),
        ("shop.Color.GREEN", "'shop.Color.GREEN' is not declared"),
        ("shop.Item{skuu: 'x'}", "shop.Item has no field 'skuu'"),
        ("shop.Item{sku: 1}", "shop.Item.sku is of type string, not int"),
        ("nope.Item{}", "there is no message 'nope.Item'"),
        ("'a' in 5", "string cannot be in int"),
        ("request.id['x']", "int cannot be indexed by string"),
        ("true ? 1 : 'x'", "the two sides of ?: differ"),
        ("has(request)", "invalid argument to has() macro"),
        ("-'x'", "no minus of string"),
        ("{1.5: 'x'}", "a key cannot be of type double"),
    ];
    for (source, expected) in cases {
        let result = evaluated(source);
        let refused = result.as_ref().err().is_some_and(|text| text.starts_with("refused ") && text.contains(expected));
        assert!(refused, "{source}: {result:?}, not {expected}");
    }
}

#[test]
fn work_is_bounded() {
    let mut sources = Sources::new();
    sources.proto("shop.proto", SCHEMA);
    let schema = sources.build().expect("the schema");
    let message = schema.message("shop.Order").expect("the message");
    let numbers: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    let json = format!(r#"{{"numbers": [{}], "name": "{}"}}"#, numbers.join(","), "x".repeat(100_000));
    let order = buffa_descriptor::reflect::DynamicMessage::from_json(schema.pool().clone(), message.index(), &json)
        .expect("the order");
    let mut names = Declarations::new(schema.pool());
    names.variable("request", Type::Message(message.index()));
    let slots = [Value::message(&order)];
    let run = |source: &str| {
        Program::compile(source, &names)
            .expect(source)
            .evaluate(&Activation::new(&slots))
            .map(|value| call::text_of(&value))
    };
    assert_eq!(run("request.numbers.all(x, x >= 0)").as_deref(), Ok("true"));
    let heavy = [
        "request.numbers.all(x, request.numbers.all(y, x + y >= 0))",
        "request.numbers.map(x, x).exists(x, request.numbers.map(y, y).exists(z, z < 0))",
        "request.numbers.map(x, request.name + 'y').size() == 1",
        "request.numbers.all(x, !(x in request.numbers.map(y, y - 100000)))",
        "request.numbers.all(x, request.numbers == request.numbers.map(y, y))",
        "request.numbers.all(x, request.name.contains('y') || true)",
        "request.numbers.all(x, '%s'.format([request.name]) != '')",
        "request.numbers.all(x, request.name.replace('', request.name) != '')",
    ];
    for source in heavy {
        assert_eq!(run(source), Err(Error::Steps), "{source}");
    }
}

#[test]
fn what_a_sender_nests_is_bounded() {
    let mut sources = Sources::new();
    sources.proto("shop.proto", SCHEMA);
    let schema = sources.build().expect("the schema");
    let kind = schema.message("shop.Order").expect("the message");
    let field = |number: u8, bytes: &[u8]| {
        let mut out = vec![number << 3 | 2];
        leat_schema::wire::put_varint(&mut out, bytes.len() as u64);
        out.extend_from_slice(bytes);
        out
    };
    let any = |name: &str, value: &[u8]| [field(1, format!("t/{name}").as_bytes()), field(2, value)].concat();
    let mut nested = any("shop.Item", b"");
    for _ in 0..2_000 {
        nested = any("google.protobuf.Any", &nested);
    }
    let large = any("shop.Item", &field(1, &[b'x'; 100_000]));
    let mut names = Declarations::new(schema.pool());
    names.variable("request", Type::Message(kind.index()));
    let run = |source: &str, any: &[u8], rest: &[u8]| {
        // Field 21 takes two bytes of a tag.
        let mut bytes = vec![0xaa, 0x01];
        leat_schema::wire::put_varint(&mut bytes, any.len() as u64);
        let bytes = [&bytes, any, rest].concat();
        let message = kind.decode(&bytes).expect("a message");
        let slots = [Value::message(&message)];
        Program::compile(source, &names)
            .expect(source)
            .evaluate(&Activation::new(&slots))
            .map(|value| call::text_of(&value))
    };
    assert_eq!(run("type(request.any) == google.protobuf.Any", &nested, b"").as_deref(), Ok("true"));
    assert_eq!(run("request.any.sku.size() == 100000", &large, b"").as_deref(), Ok("true"));
    let numbers = field(10, &[1; 1_000]);
    assert_eq!(run("request.numbers.all(n, request.any.count < n)", &large, &numbers), Err(Error::Steps));
    // Seconds of a timestamp that no calendar has.
    let at = [&[0x9a, 0x01, 10, 8][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]].concat();
    assert!(run("request.at.getFullYear('+10:00') == 9999 || true", b"", &at).is_ok());
}

#[test]
fn deep_expressions_are_evaluated_up_to_the_bound() {
    assert_eq!(evaluated(&vec!["1"; 95].join("+")).as_deref(), Ok("95"));
    assert_eq!(evaluated(&("!".repeat(90) + "true")).as_deref(), Ok("true"));
    assert_eq!(
        evaluated(&format!("{}1{}", "[".repeat(90), "][0]".repeat(90).replace("][0]", "]"))).as_deref(),
        Ok("list")
    );
}

#[test]
fn deep_expressions_are_refused() {
    let pool = Sources::new().build().expect("an empty schema").pool().clone();
    let names = Declarations::new(&pool);
    for source in [
        "(".repeat(300) + "1" + &")".repeat(300),
        vec!["1"; 10_000].join("+"),
        vec!["1"; 10_000].join(" in "),
        "metadata".to_owned() + &".a".repeat(150),
        "[".repeat(9_000),
        "1".repeat(70_000),
    ] {
        assert!(Program::compile(&source, &names).is_err(), "{}…", &source[..20]);
    }
}
