/** The payment service over bare HTTP: what its conformance is judged by, with none of our code between. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; `any`-like on purpose: tests say what they expect of it. */
  readonly body: Body;
}

/** A JSON object, a JSON array, or text that is no JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came and fails where it is wrong
export type Body = any;

export interface ServiceApi {
  /** A request with the key, or with the headers given. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** A request to a control route. @throws when it is refused */
  control(method: string, path: string, body?: unknown): Promise<Body>;
}

export function createServiceApi(service: {
  readonly baseUrl: string;
  readonly apiKey: string;
}): ServiceApi {
  const call: ServiceApi['call'] = async (method, path, body, headers) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(service.baseUrl + path, {
      method,
      headers: headers ?? { 'Content-Type': 'application/json', 'api-key': service.apiKey },
      redirect: 'manual',
      ...(body !== undefined && { body: text }),
    });
    const answer = await response.text();
    return { status: response.status, headers: response.headers, body: parse(answer) };
  };
  return {
    call,
    control: async (method, path, body) => {
      const reply = await call(method, `/_sandbox${path}`, body);
      if (reply.status !== 200) {
        throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
      }
      return reply.body;
    },
  };
}

function parse(text: string): Body {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
