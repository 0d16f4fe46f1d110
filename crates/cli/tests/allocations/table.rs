use std::fmt::Write as _;
use std::path::PathBuf;

/// What a path costs: heap allocations a request, without and with an access log.
pub(crate) type Row = (String, [u64; 2]);

/// The committed table.
pub(crate) fn path() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/allocations.md").into()
}

/// The rows of a table as [`write`] makes it.
pub(crate) fn read(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, name, off, on, _] = cells[..]
            && let (Ok(off), Ok(on)) = (off.parse(), on.parse())
        {
            rows.push((name.to_owned(), [off, on]));
        }
    }
    rows
}

/// The whole page.
pub(crate) fn write(rows: &[Row]) -> String {
    let mut page = String::from(
        "# Heap allocations a request\n\n\
         Counted on the core's thread over real sockets, on a connection that has served requests before; a reallocation\n\
         counts as one; plug-ins are called without a socket, and count what JavaScript takes too. Written by a test, which fails when a count differs:\n\
         `UPDATE=1 cargo test -p leat-cli --test allocations`.\n\
         Where they come from: `LEAT_TRACE_ALLOCATIONS=\"h1 proxy\" cargo test -p leat-cli --test allocations`.\n\n\
         | path | without access log | with access log |\n| --- | ---: | ---: |\n",
    );
    for (name, [off, on]) in rows {
        // Writing to a String can't fail.
        let _ = writeln!(page, "| {name} | {off} | {on} |");
    }
    page
}
