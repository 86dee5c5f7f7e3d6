/** The query of an address, as it was sent. */
export function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

/** An address with another query, or without one if it is empty. */
export function withQuery(url: string, query: URLSearchParams): string {
  const [path = ''] = url.split('?', 1);
  return query.size === 0 ? path : `${path}?${query}`;
}
