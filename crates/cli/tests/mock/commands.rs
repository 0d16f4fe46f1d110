use leat_testkit::Leat;

use super::support::{RULES, folder};

#[test]
fn mistakes_in_rules_and_schema_are_told_with_their_places() {
    for (rules, wanted) in [
        (RULES.replace("state: PLACED }, headers", "state: PLCED }, headers"), "rules/orders.yaml:5:"),
        (RULES.replace("method: shop.v1.Orders/Place", "method: Orders/Place"), "rules/orders.yaml:11:"),
        (RULES.replace("id: \"8\"", "idd: \"8\""), "rules/orders.yaml:8:"),
    ] {
        let folder = folder(&rules);
        let output = Leat::run(folder.path(), &["mock", "--proto", "protos", "--rules", "rules", "--check"]);
        assert_eq!(output.code, Some(2), "{}", output.stderr);
        assert!(output.stderr.contains(wanted) && output.stderr.contains("help: "), "{wanted}: {}", output.stderr);
    }
    let folder = folder(RULES);
    folder.write("protos/shop/v1/bad.proto", "syntax = \"proto3\";\npackage shop.v1;\nmessage A { Strin x = 1; }\n");
    let output = Leat::run(folder.path(), &["mock", "--proto", "protos", "--rules", "rules"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("bad.proto:3:13"), "{}", output.stderr);
}

#[test]
fn a_reply_that_breaks_its_own_constraints_is_a_mistake() {
    let folder = folder(RULES);
    let proto = std::fs::read_to_string(folder.path().join("protos/shop/v1/orders.proto")).unwrap();
    let strict =
        proto.replace("string customer = 2;", "string customer = 2 [(buf.validate.field).string.min_len = 4];");
    folder.write("protos/shop/v1/orders.proto", strict);
    let output = Leat::run(folder.path(), &["mock", "--proto", "protos", "--rules", "rules", "--check"]);
    assert_eq!(output.code, Some(2), "{}", output.stdout);
    assert!(output.stderr.contains("the reply breaks the constraints of shop.v1.Order"), "{}", output.stderr);
    let off = ["mock", "--proto", "protos", "--rules", "rules", "--check", "--validate", "off"];
    assert_eq!(Leat::run(folder.path(), &off).code, Some(0));
}

#[test]
fn whoever_reads_what_is_printed_may_stop() {
    let folder = folder(RULES);
    for args in [
        &["mock", "--proto", "protos", "--rules", "rules", "--check"][..],
        &["check", "--proto", "protos", "rules"],
        &["version"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_leat"));
        let output = command.current_dir(folder.path()).args(args).stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !stderr.contains("panicked"), "{args:?}: {:?} {stderr}", output.status);
    }
}

#[test]
fn what_flags_name_must_be_there() {
    let folder = folder(RULES);
    let output = Leat::run(folder.path(), &["mock", "--rules", "rules"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("--proto"), "{}", output.stderr);
    let output = Leat::run(folder.path(), &["mock", "--proto", "nowhere"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.contains("`nowhere` does not exist"), "{}", output.stderr);
    let output = Leat::run(folder.path(), &["mock", "--proto", "protos", "--reflect", "ftp://x"]);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
}

#[test]
fn check_takes_rules_with_their_schema() {
    let folder = folder(RULES);
    let good = Leat::run(folder.path(), &["check", "--proto", "protos", "rules/orders.yaml"]);
    assert_eq!((good.code, good.stdout.as_str()), (Some(0), "rules/orders.yaml: good; 5 rules\n"), "{}", good.stderr);
    let alone = Leat::run(folder.path(), &["check", "rules/orders.yaml"]);
    assert_eq!(alone.code, Some(2));
    assert!(alone.stderr.contains("leat check --proto PATH rules/orders.yaml"), "{}", alone.stderr);
    folder.write("rules/orders.yaml", RULES.replace("id: \"8\"", "idd: \"8\""));
    let wrong = Leat::run(folder.path(), &["check", "--proto", "protos", "rules/orders.yaml"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("rules/orders.yaml:8:"), "{}", wrong.stderr);
}

#[test]
fn a_good_mock_is_said_to_be_good() {
    let folder = folder(RULES);
    let output = Leat::run(folder.path(), &["mock", "--proto", "protos", "--rules", "rules", "--check"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    assert!(output.stdout.contains("good"), "{}", output.stdout);
}
