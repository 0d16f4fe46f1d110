use leat_message::Reason;

use super::call::Query;

/// What a request asks of a mock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::process) struct MockCall {
    /// The route of the mock; `None` for the only one.
    pub(super) mock: Option<String>,
    pub(super) ask: MockAsk,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::process) enum MockAsk {
    Overview,
    Calls { parameters: Vec<(String, String)>, from: u64 },
    Call { number: u64 },
    Rules { from: usize },
    Sessions,
    Verify,
    Reset,
    Scenario,
    PutRules { name: String },
    RemoveRules { name: String },
}

impl MockCall {
    /// What the steps of a path below `/mock` ask for; `None` where there is nothing.
    ///
    /// # Errors
    /// `AdminRequest` for a query that does not fit.
    pub(super) fn of(steps: &[&str], query: &mut Query) -> Result<Option<Self>, Reason> {
        let Some(("mock", steps)) = steps.split_first().map(|(first, rest)| (*first, rest)) else { return Ok(None) };
        let mock = query.one("mock")?;
        let ask = match steps {
            [] => MockAsk::Overview,
            ["calls"] => {
                let from = query.one("from")?.map_or(Ok(0), |text| text.parse().map_err(|_| Reason::AdminRequest))?;
                MockAsk::Calls { parameters: query.rest(), from }
            }
            ["calls", number] => match number.parse() {
                Ok(number) => MockAsk::Call { number },
                Err(_) => return Ok(None),
            },
            ["rules"] => MockAsk::Rules { from: query.from()? },
            ["sessions"] => MockAsk::Sessions,
            ["verify"] => MockAsk::Verify,
            ["reset"] => MockAsk::Reset,
            ["scenario"] => MockAsk::Scenario,
            ["rules", name] => MockAsk::PutRules { name: (*name).to_owned() },
            ["rules", name, "remove"] => MockAsk::RemoveRules { name: (*name).to_owned() },
            _ => return Ok(None),
        };
        if query.is_empty() { Ok(Some(Self { mock, ask })) } else { Err(Reason::AdminRequest) }
    }
}

impl MockAsk {
    /// Whether it is asked by POST.
    pub(super) fn has_body(&self) -> bool {
        !matches!(self, Self::Overview | Self::Calls { .. } | Self::Call { .. } | Self::Rules { .. } | Self::Sessions)
    }

    /// Whether it changes something.
    pub(super) fn writes(&self) -> bool {
        self.has_body() && *self != Self::Verify
    }
}
