// Where leat/http is meant to differ from node:http: name of the case → what differs, and why.
//
// A case that stands here and shows no difference any more fails, so that the list stays true.
export const exceptions = {};
