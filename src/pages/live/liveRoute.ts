/** Reports what moved since a page was read. Nothing is read for it: the watcher knows. */
import type { RequestHandler } from 'express';
import { isTopic } from './topics.ts';
import type { Watcher } from './watcher.ts';

export const LIVE_PATH = '/live';
/** Marks a request that a script made, not a person: it does not keep a session alive. */
export const LIVE_HEADER = 'x-live';

const MAX_TOPICS = 10;

export function serveLive(watcher: Watcher): RequestHandler {
  return async (request, response) => {
    const query = new URLSearchParams(request.originalUrl.slice(LIVE_PATH.length));
    const topics = query.getAll('topic').filter(isTopic);
    if (topics.length === 0 || topics.length > MAX_TOPICS) {
      response.status(400).json({ outcome: 'invalid' });
      return;
    }
    const left = new AbortController();
    response.on('close', () => left.abort());
    const news = await watcher.wait(topics, query.get('place') ?? '', left.signal);
    if (left.signal.aborted) return;
    response.status(news.outcome === 'unknown' ? 503 : 200).json(news);
  };
}
