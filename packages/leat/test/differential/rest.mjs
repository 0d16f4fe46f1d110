// How long nothing has to happen before it is taken for granted that nothing will.
const QUIET_MS = Number(process.env.LEAT_CASE_QUIET_MS ?? 30);
const TURNS = 3;

/** Waits that long in this process. */
export async function rested() {
    await new Promise((resolve) => void setTimeout(resolve, QUIET_MS));
    // The timer may be late because the machine is busy; what is ready by now comes before anything is judged.
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
