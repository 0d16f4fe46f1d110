// Channels of node:diagnostics_channel that servers publish to, once somebody listens to one of them. Neither module loads the other.
interface Channel {
    readonly hasSubscribers: boolean;
    publish(message: unknown): void;
}

export interface HttpChannels {
    readonly start: Channel;
    readonly finish: Channel;
}

/** Set with the first subscription, and then called. */
export const traced: { http: HttpChannels | undefined; began: () => void } = {
    http: undefined,
    began() {
        // No server is there yet.
    },
};

/** Begins to publish what `channel` gives by name. */
export function trace(channel: (name: string) => Channel): void {
    if (traced.http !== undefined) return;
    traced.http = { start: channel("http.server.request.start"), finish: channel("http.server.response.finish") };
    traced.began();
}
