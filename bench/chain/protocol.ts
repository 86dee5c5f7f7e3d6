/** Messages between the bench and its publisher. */

export type ToPublisher =
  /** Chain what is not chained, once. */
  | { readonly type: 'catch_up'; readonly url: string }
  /** Chain what is new every two seconds, until the end. */
  | { readonly type: 'begin'; readonly url: string }
  | { readonly type: 'end' };
export type FromPublisher = { readonly type: 'started' | 'done' };
