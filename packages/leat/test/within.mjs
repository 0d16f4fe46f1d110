// A promise with a limit in time, so that what hangs fails by its name and the tests after it still run.
const WAIT_MS_MAX = 8000;

export function within(promise, what, ms = WAIT_MS_MAX) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} did not come within ${ms} ms`)), ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
