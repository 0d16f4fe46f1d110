// twin: stderr
function fail() {
    throw new RangeError("plain");
}
fail();
