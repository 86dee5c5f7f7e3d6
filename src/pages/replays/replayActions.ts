/** What people do about replays of many events. */
import { z } from 'zod';
import { startReplayAs, stopReplayAs } from '../../actions/replayRuns.ts';
import {
  startReplay as startEndpoint,
  stopReplay as stopEndpoint,
} from '../../console/routes/replays.ts';
import { number, reasonGiven } from '../../console/schemas.ts';
import { readEventFilter } from '../../ledger/read/eventFilter.ts';
import { inboxFilter, timesOf } from '../inbox/inboxFilter.ts';
import { replayHref } from '../links.ts';
import { defineAction } from '../page.ts';

/** Inbox numbers of a form: one value, or a list. */
export const chosenEvents = z
  .union([number, z.array(number).max(100)])
  .transform((value) => [value].flat())
  .optional();

export const startReplay = defineAction({
  path: '/replays/start',
  permission: startEndpoint.permission,
  params: z.strictObject({}),
  form: z.strictObject({
    ...inboxFilter,
    event: chosenEvents,
    confirmed: z.literal('yes', 'check the box to confirm'),
    reason: reasonGiven,
  }),
  act: async ({ db }, { form, actor }) => {
    const filter = await readEventFilter(db, timesOf(form), form.event);
    const run = await startReplayAs({ db }, actor, { filter, reason: form.reason });
    const notice = 'The replay begins within seconds. You can leave this page and find it again.';
    return { outcome: 'done', to: replayHref(run.id), notice };
  },
});

export const stopReplay = defineAction({
  path: '/replays/{replay_number}/stop',
  permission: stopEndpoint.permission,
  params: z.strictObject({ replay_number: number }),
  form: z.strictObject({}),
  act: async ({ db }, { params: { replay_number: id }, actor }) => {
    if (await stopReplayAs({ db }, actor, id)) {
      const notice = 'The replay is stopped. Events that it replayed stay so.';
      return { outcome: 'done', to: replayHref(id), notice };
    }
    return { outcome: 'conflict', message: `Replay ${id} does not run. Nothing was changed.` };
  },
});
