/** A control route: a schema, and a function from the validated input to a response body. */
import type { Request, Response, Router } from 'express';
import type { z } from 'zod';
import { problemsOf } from '../../../contract/index.ts';
import { type Decision, rejectValue } from '../../domain/decision.ts';
import { isStorable, readJson } from '../../http/json.ts';
import { sendRejection } from '../../http/respond.ts';

export const CONTROL_PATH = '/_sandbox';

const NOT_TEXT = rejectValue('path or query: not text').rejection;

export interface ControlRoute<Input extends z.ZodType> {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Below CONTROL_PATH. */
  readonly path: string;
  /** Validates path parameters, query and body together. */
  readonly input: Input;
  readonly handle: (input: z.output<Input>) => Promise<Decision<object>>;
}

export function addControlRoute<Input extends z.ZodType>(
  router: Router,
  route: ControlRoute<Input>,
): void {
  router[route.method](
    `${CONTROL_PATH}${route.path}`,
    async (request: Request, response: Response) => {
      const body = readJson(String(request.body ?? ''));
      if (body.rejection) {
        sendRejection(response, body.rejection);
        return;
      }
      const query = Object.fromEntries(new URL(request.url, 'http://sandbox').searchParams);
      const texts = [...Object.entries(query).flat(), ...Object.values(request.params).flat()];
      if (!texts.every(isStorable)) {
        sendRejection(response, NOT_TEXT);
        return;
      }
      const input = { ...query, ...(body.value as object), ...request.params };
      const [problem] = problemsOf(route.input, input);
      if (problem) {
        sendRejection(response, { status: 400, code: problem.code, message: problem.message });
        return;
      }
      const result = await route.handle(route.input.parse(input));
      if (result.rejection) sendRejection(response, result.rejection);
      else response.json(result.value);
    },
  );
}
