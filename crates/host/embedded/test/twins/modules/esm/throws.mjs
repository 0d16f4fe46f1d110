throw new TypeError("from the module")
