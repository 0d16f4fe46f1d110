// The schema of the GraphQL suites: a query, a mutation, a slow list for @defer-free streaming, and an error.
export const typeDefs = `#graphql
    type Item { id: ID!, name: String! }
    type Query { hello(name: String): String!, items(count: Int!): [Item!]!, fails: String, header(name: String!): String }
    type Mutation { add(name: String!): Item! }
`;

export const resolvers = {
    Query: {
        hello: (_, { name }) => `hello ${name ?? "world"}`,
        items: (_, { count }) => Array.from({ length: count }, (_, id) => ({ id, name: `item ${id}` })),
        fails: () => {
            throw new Error("it fails");
        },
        header: (_, { name }, context) => context.headers?.[name] ?? null,
    },
    Mutation: { add: (_, { name }) => ({ id: "new", name }) },
};
