// Reads Autobahn's report of one agent and compares it with the list of known failures.

/** What the suite calls a pass: INFORMATIONAL cases have no right answer, NON-STRICT ones two. */
const PASSES = new Set(["OK", "INFORMATIONAL", "NON-STRICT"]);

/**
 * Compares `report` (case → behaviour) with `known` (case → reason). A failure that is not listed is a failure; so is a
 * listed case that passes or was not run, since the list would no longer tell the truth.
 */
export function compare(report, known) {
    const result = { passed: 0, known: [], failures: [] };
    for (const [id, { behavior, behaviorClose }] of Object.entries(report)) {
        const passes = PASSES.has(behavior) && PASSES.has(behaviorClose);
        if (passes && known[id] === undefined) result.passed += 1;
        else if (passes) result.failures.push(`${id} passes, take it off the list`);
        else if (known[id] !== undefined) result.known.push(`${id}: ${known[id]}`);
        else result.failures.push(`${id}: ${behavior}, closing: ${behaviorClose}`);
    }
    for (const id of Object.keys(known)) if (!(id in report)) result.failures.push(`${id} is listed, but was not run`);
    if (Object.keys(report).length === 0) result.failures.push("the report has no cases");
    return result;
}
