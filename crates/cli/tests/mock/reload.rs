use super::support::{RULES, call, change, folder, message, with_admin};

#[test]
fn good_rules_replace_the_old_ones_and_bad_ones_do_not() {
    let mut leat = with_admin(folder(RULES), &[]);
    assert_eq!(message(&leat, "Get", r#"{"id":"7"}"#)["customer"], "Ada");
    leat.folder().write("rules/orders.yaml", RULES.replace("customer: Ada", "customer: Grace"));
    assert_eq!(change(&mut leat, "/reload", "").0, 200);
    assert_eq!(message(&leat, "Get", r#"{"id":"7"}"#)["customer"], "Grace");
    leat.folder().write("rules/orders.yaml", RULES.replace("customer: Ada", "custmer: Ada"));
    let (status, problem) = change(&mut leat, "/reload", "");
    assert_eq!(status, 422, "{problem:#}");
    let wrong = &problem["problems"][0];
    assert_eq!((&wrong["line"], wrong["help"].is_string()), (&5.into(), true), "{problem:#}");
    assert_eq!(message(&leat, "Get", r#"{"id":"7"}"#)["customer"], "Grace");
}

#[test]
fn what_was_counted_outlives_a_reload() {
    let mut leat = with_admin(folder(RULES), &[]);
    assert_eq!(message(&leat, "Get", r#"{"id":"1"}"#)["id"], "once");
    leat.folder().write("rules/more.yaml", "{ method: shop.v1.Orders/Cancel, reply: { message: { id: gone } } }");
    assert_eq!(change(&mut leat, "/reload", "").0, 200);
    assert_eq!(message(&leat, "Cancel", "{}")["id"], "gone");
    assert_eq!(call(&leat, "Get", "", r#"{"id":"1"}"#).status, 404, "it has answered once");
}

#[test]
fn a_watched_mock_takes_changes_and_new_files_over() {
    let mut leat = with_admin(folder(RULES), &["--watch"]);
    leat.folder().write("rules/more.yaml", "{ method: shop.v1.Orders/Cancel, reply: { message: { id: gone } } }");
    leat.wait_log("the reload", |line| line.contains("\"reloaded\""));
    assert_eq!(message(&leat, "Cancel", "{}")["id"], "gone");
}

#[test]
fn a_new_folder_whose_first_file_has_a_mistake_is_taken_over_when_that_is_mended() {
    let mut leat = with_admin(folder(RULES), &["--watch"]);
    let rule = "{ method: shop.v1.Orders/Cancel, reply: { message: { id: gone } } }";
    std::fs::create_dir_all(leat.folder().path().join("rules/new/deep")).unwrap();
    leat.folder().write("rules/new/deep/more.yaml", rule.replace("Cancel", "Cancle"));
    leat.wait_log("the refusal", |line| line.contains("\"reload_failed\""));
    leat.folder().write("rules/new/deep/more.yaml", rule);
    leat.wait_log("the reload", |line| line.contains("\"reloaded\""));
    assert_eq!(message(&leat, "Cancel", "{}")["id"], "gone");
}

#[test]
fn a_new_file_with_a_mistake_is_taken_over_when_it_is_mended_in_place() {
    let mut leat = with_admin(folder(RULES), &["--watch"]);
    let rule = "{ method: shop.v1.Orders/Cancel, reply: { message: { id: gone } } }";
    leat.folder().write("rules/more.yaml", rule.replace("Cancel", "Cancle"));
    leat.wait_log("the refusal", |line| line.contains("\"reload_failed\""));
    leat.folder().write("rules/more.yaml", rule);
    leat.wait_log("the reload", |line| line.contains("\"reloaded\""));
    assert_eq!(message(&leat, "Cancel", "{}")["id"], "gone");
}
