/** The payment service over plain HTTP, without the product's client, so that tests see what it really sends. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body, untyped on purpose: tests state what they expect of it. */
  readonly body: Body;
}

/** A JSON value, or text that is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any response and fails where it is wrong
export type Body = any;

export interface ServiceApi {
  /** Sends a request with the API key, or with the given headers. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  /** Sends a request to a control route. @throws if the status is not 200 */
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
    return {
      status: response.status,
      headers: response.headers,
      body: parse(await response.text()),
    };
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
