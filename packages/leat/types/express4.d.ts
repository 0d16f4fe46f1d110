// The declarations are those that a program has already, `@types/express` 4: a copy of ours would have another `Request` than
// its middleware has, and would not know of what the program adds to Express's.
import express = require("express");
export = express;
