// Which endpoints of an upstream are put aside for failures in a row.

/** When an endpoint is put aside, and for how long. */
export interface OutlierSettings {
    /** So many failures in a row put aside. From 1. */
    readonly consecutiveFailures: number;
    /** For so long times the number of times it was in the present series. */
    readonly ejectionUs: number;
    readonly ejectionMaxUs: number;
    /** At most `floor(partMax × endpoints)` are aside at once: where most fail, it's the upstream that is ill, and the rest would drown. */
    readonly partMax: number;
}

interface Health {
    failures: number;
    /** Of the present series: how often it was put aside. A series ends once it was back for as long as it had been aside. */
    times: number;
    untilUs: number;
}

const MILLION = 1_000_000;

/** The health of endpoints, by their numbers. */
export class Outliers {
    private readonly settings: OutlierSettings;
    private readonly endpoints: Health[];

    constructor(settings: OutlierSettings, count: number) {
        this.settings = settings;
        this.endpoints = Array.from({ length: count }, () => ({ failures: 0, times: 0, untilUs: -Infinity }));
    }

    /** Whether the endpoint is aside; one that does not exist is not. */
    isEjected(endpoint: number, nowUs: number): boolean {
        const health = this.endpoints[endpoint];
        return health !== undefined && nowUs < health.untilUs;
    }

    /**
     * Takes the result of a request to an endpoint; gives the time for which that puts it aside. Results that come while it is aside are
     * of requests sent before, and say nothing. Where too many are aside, it stays, and the next failure tries again.
     */
    record(endpoint: number, failed: boolean, nowUs: number): number | undefined {
        const health = this.endpoints[endpoint];
        if (health === undefined || nowUs < health.untilUs) return undefined;
        health.failures = failed ? health.failures + 1 : 0;
        if (health.failures < this.settings.consecutiveFailures) return undefined;
        const ejected = this.endpoints.filter(({ untilUs }) => nowUs < untilUs).length;
        if ((ejected + 1) * MILLION > this.endpoints.length * Math.round(this.settings.partMax * MILLION)) return undefined;
        const isNewSeries = Math.max(0, nowUs - health.untilUs) >= this.timeUs(health.times);
        health.times = isNewSeries ? 1 : health.times + 1;
        health.failures = 0;
        const timeUs = this.timeUs(health.times);
        health.untilUs = nowUs + timeUs;
        return timeUs;
    }

    private timeUs(times: number): number {
        return Math.min(this.settings.ejectionMaxUs, this.settings.ejectionUs * times);
    }
}
