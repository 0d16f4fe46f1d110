// Round robin by weight, where no endpoint gets its share in a row: of weights 5, 1, 1 the first gets `a a b a c a a`.

/**
 * nginx's smooth weighted round robin (commit 52327e0, 2012): each choice adds every endpoint's weight to its balance, takes the one
 * with the highest (the first such), and subtracts the sum of the weights from it. Over any run of choices as long as that
 * sum, each gets exactly its weight. A choice looks at every endpoint.
 */
export class Weighted {
    private readonly balances: number[] = [];

    /**
     * The next of `count` endpoints by the weights of this moment, of which 0 is one that can't be used; undefined if all are.
     * Weights may change between choices; an endpoint that comes, or comes back, starts from a balance of zero.
     */
    pick(count: number, weightOf: (index: number) => number): number | undefined {
        let sum = 0;
        let best: number | undefined;
        let highest = -Infinity;
        for (let index = 0; index < count; index++) {
            const weight = weightOf(index);
            if (weight === 0) {
                this.balances[index] = 0;
                continue;
            }
            const balance = (this.balances[index] ?? 0) + weight;
            this.balances[index] = balance;
            sum += weight;
            if (balance > highest) {
                best = index;
                highest = balance;
            }
        }
        this.balances.length = count;
        if (best !== undefined) this.balances[best] = highest - sum;
        return best;
    }
}
