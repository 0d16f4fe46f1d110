// The lint of the package: type-aware and strict for what ships, plain for its tests.
import tseslint from "typescript-eslint";

const NATIVE = "src/native/**/*.ts";

export default tseslint.config(
    { ignores: ["dist/", "native/"] },
    { linterOptions: { reportUnusedDisableDirectives: "error" } },
    {
        files: ["src/**/*.ts"],
        extends: [tseslint.configs.strictTypeChecked],
        languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
        rules: {
            // `== null` asks for null and undefined at once.
            eqeqeq: ["error", "always", { null: "ignore" }],
            "no-var": "error",
            // `import http = require("node:http")` is the module itself, without the object that stands for it in `import *`.
            "@typescript-eslint/no-require-imports": ["error", { allowAsImport: true }],
            "prefer-const": "error",
            "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
            "@typescript-eslint/explicit-module-boundary-types": "error",
            "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
            "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
            "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
            // `while (true)` with its end in the middle is a loop like any other.
            "@typescript-eslint/no-unnecessary-condition": ["error", { allowConstantLoopConditions: "only-allowed-literals" }],
            "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
        },
    },
    {
        // Only one folder touches the addon. Types of the boundary may be named elsewhere.
        files: ["src/**/*.ts"],
        ignores: [NATIVE],
        rules: {
            "@typescript-eslint/no-restricted-imports": [
                "error",
                {
                    patterns: [
                        { group: ["**/native/load", "**/native/addon"], allowTypeImports: true, message: "Only src/native touches the addon." },
                        { group: ["**/*.node"], message: "Only src/native touches the addon." },
                        { group: ["node:module", "module"], importNames: ["createRequire"], message: "Only src/native loads what is not a module of ours." },
                    ],
                },
            ],
            "no-restricted-syntax": [
                "error",
                { selector: "CallExpression[callee.name='require']", message: "Use import; only src/native loads what is not a module of ours." },
                { selector: "MemberExpression[property.name='dlopen']", message: "Only src/native touches the addon." },
            ],
        },
    },
    {
        // Records are read word by word at positions that their own lengths give.
        files: [NATIVE],
        rules: { "@typescript-eslint/no-non-null-assertion": "off", "@typescript-eslint/no-require-imports": "off" },
    },
    {
        // node:http's deprecated members are part of what is served there, and Node's own methods are kept to be compared with.
        files: ["src/http/**/*.ts"],
        rules: { "@typescript-eslint/no-deprecated": "off", "@typescript-eslint/unbound-method": "off" },
    },
    {
        // What programs pass to Express is checked by nobody's types, and Express's own doubts about it are part of what it does.
        files: ["src/express/**/*.ts"],
        rules: { "@typescript-eslint/no-unnecessary-condition": "off", "@typescript-eslint/no-deprecated": "off", "@typescript-eslint/unbound-method": "off" },
    },
    {
        // The libraries that Express and services use are loaded when they are first needed, and so is Express where it is only stood in for.
        files: [
            "src/express/libraries.ts",
            "src/express/v4/libraries.ts",
            "src/express/router/libraries.ts",
            "src/register/parts.ts",
            "src/register/load.ts",
            "src/rpc/libraries.ts",
        ],
        rules: { "@typescript-eslint/no-require-imports": "off", "no-restricted-syntax": "off" },
    },
    {
        files: ["**/*.mjs"],
        extends: [tseslint.configs.recommended],
        // Express tells a handler of errors by its four arguments, whether it uses them or not.
        rules: { "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }] },
    },
);
