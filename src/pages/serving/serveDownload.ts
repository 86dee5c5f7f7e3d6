/** Serves a download at the pace of its reader. */
import type { RequestHandler } from 'express';
import { queryOf } from '../../platform/query.ts';
import type { Download } from '../download.ts';
import type { Context } from './context.ts';
import { sendFailure, UNAVAILABLE } from './failures.ts';
import { readFields } from './forms.ts';
import { refusalOf } from './refusals.ts';
import { actorOf, sessionOf } from './requestSession.ts';

export function serveDownload(download: Download, context: Context): RequestHandler {
  return async (request, response) => {
    const { renderer, isReady } = context;
    const at = { request, response, renderer };
    const subject = `GET ${download.path}`;
    const denied = refusalOf(download.permission, { subject, context, ...at });
    if (denied) return sendFailure(denied, at);
    if (sessionOf(response).isStale || !isReady()) return sendFailure(UNAVAILABLE, at);
    const { db } = context.reads.source();
    const opened = await download.open(
      { ...context, db },
      {
        query: readFields(queryOf(request.originalUrl)),
        actor: actorOf(request, { response, trustedProxies: context.trustedProxies }),
      },
    );
    if (opened.outcome !== 'ok') return sendFailure(opened, at);
    response.attachment(download.fileName).type(download.type);
    try {
      await opened.send(response);
    } catch (error) {
      if (!response.headersSent && !response.destroyed) {
        response.removeHeader('Content-Disposition');
        throw error;
      }
      // A failure after the first row cannot become a page: the connection is closed, so the browser
      // reports an incomplete file.
      context.log.warn({ error }, 'console.download_failed');
      response.destroy();
    }
  };
}
