import "./nowhere.mjs";
