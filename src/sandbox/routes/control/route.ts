/** How a control route is written: a schema, and a function from what it checked to an answer. */
import type { Request, Response, Router } from 'express';
import type { z } from 'zod';
import { problemsOf } from '../../../contract/index.ts';
import { type Decision, refuseValue } from '../../domain/decision.ts';
import { sendRefusal } from '../../http/answer.ts';
import { isStorable, readJson } from '../../http/json.ts';

export const CONTROL_PATH = '/_sandbox';

const NOT_TEXT = refuseValue('path or query: not text').refusal;

export interface ControlRoute<Input extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Below CONTROL_PATH. */
  readonly path: string;
  /** Judges path parameters, query and body together. */
  readonly input: Input;
  readonly answer: (input: z.output<Input>) => Promise<Decision<object>>;
}

export function addControlRoute<Input extends z.ZodType>(
  router: Router,
  route: ControlRoute<Input>,
): void {
  router[route.method](
    `${CONTROL_PATH}${route.path}`,
    async (request: Request, response: Response) => {
      const body = readJson(String(request.body ?? ''));
      if (body.refusal) {
        sendRefusal(response, body.refusal);
        return;
      }
      const query = Object.fromEntries(new URL(request.url, 'http://sandbox').searchParams);
      const texts = [...Object.entries(query).flat(), ...Object.values(request.params).flat()];
      if (!texts.every(isStorable)) {
        sendRefusal(response, NOT_TEXT);
        return;
      }
      const input = { ...query, ...(body.state as object), ...request.params };
      const [problem] = problemsOf(route.input, input);
      if (problem) {
        sendRefusal(response, { status: 400, code: problem.code, message: problem.message });
        return;
      }
      const answer = await route.answer(route.input.parse(input));
      if (answer.refusal) sendRefusal(response, answer.refusal);
      else response.json(answer.state);
    },
  );
}
