throw new RangeError("from cjs")
