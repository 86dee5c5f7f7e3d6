/**
 * An S3-compatible store for tests, in memory. It is written from the description of the protocol and
 * shares no code with the client: it refuses a request unless it computes the same signature (AWS
 * Signature Version 4) and the body has the SHA-256 that the request states.
 *
 * Servers that could run here do not check this: s3rver accepts any signature of version 4, and the
 * gateway of Ceph needs a cluster.
 */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const S3_KEYS = {
  accessKeyId: 'AKIATEST',
  secretAccessKey: 'a-secret-that-only-this-test-knows',
};
export const S3_REGION = 'eu-central-1';

export interface S3Server {
  readonly endpoint: string;
  /** Objects by bucket and key, such as `archive/shop/messages/…`. */
  readonly objects: Map<string, Buffer>;
  /** Requests by status. */
  readonly statuses: number[];
  /** Status with which the next requests fail. */
  readonly failures: number[];
  /** Page length of lists. */
  pageLength: number;
  close(): Promise<void>;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) =>
  createHmac('sha256', key).update(data).digest();

export async function startS3Server(bucket: string): Promise<S3Server> {
  const state = {
    objects: new Map<string, Buffer>(),
    statuses: [] as number[],
    failures: [] as number[],
    pageLength: 1000,
  };
  const server = createServer((request, response) => {
    void respond(request, response);
  });
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { status, content, type } = handle(request, body);
    state.statuses.push(status);
    response.writeHead(status, { 'content-type': type ?? 'application/xml' });
    response.end(request.method === 'HEAD' ? undefined : content);
  };
  const handle = (request: IncomingMessage, body: Buffer): Reply => {
    const failure = state.failures.shift();
    if (failure !== undefined) return problem(failure, 'SlowDown');
    const refusal = refuse(request, body);
    if (refusal !== undefined) return problem(403, refusal);
    const url = new URL(request.url ?? '/', 'http://s3');
    const path = decodeURIComponent(url.pathname.slice(1));
    if (path.split('/')[0] !== bucket) return problem(404, 'NoSuchBucket');
    if (path === bucket || path === `${bucket}/`) return listing(state, bucket, url.searchParams);
    if (request.method === 'PUT') {
      state.objects.set(path, body);
      return { status: 200, content: '' };
    }
    const object = state.objects.get(path);
    if (object === undefined) return problem(404, 'NoSuchKey');
    return { status: 200, content: object, type: 'application/octet-stream' };
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    endpoint: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
}

interface Reply {
  readonly status: number;
  readonly content: string | Buffer;
  readonly type?: string;
}

function problem(status: number, code: string): Reply {
  return { status, content: `<Error><Code>${code}</Code><Message>${code}</Message></Error>` };
}

function listing(
  state: { readonly objects: ReadonlyMap<string, Buffer>; readonly pageLength: number },
  bucket: string,
  query: URLSearchParams,
): Reply {
  const start = `${bucket}/${query.get('prefix') ?? ''}`;
  const after = query.get('continuation-token') ?? '';
  const keys = [...state.objects.keys()]
    .filter((key) => key.startsWith(start) && key > after)
    .toSorted();
  const page = keys.slice(0, state.pageLength);
  const next = keys.length > page.length ? page.at(-1) : undefined;
  const contents = page.map(
    (key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key><Size>1</Size></Contents>`,
  );
  const token = next === undefined ? '' : `<NextContinuationToken>${next}</NextContinuationToken>`;
  return {
    status: 200,
    content:
      `<ListBucketResult><IsTruncated>${next !== undefined}</IsTruncated>` +
      `${token}${contents.join('')}</ListBucketResult>`,
  };
}

/** @returns why a request is refused */
function refuse(request: IncomingMessage, body: Buffer): string | undefined {
  const [, credential = '', signedHeaders = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    ) ?? [];
  const [accessKeyId, date = '', region = '', service = '', ending] = credential.split('/');
  if (accessKeyId !== S3_KEYS.accessKeyId) return 'InvalidAccessKeyId';
  if (region !== S3_REGION || service !== 's3' || ending !== 'aws4_request') {
    return 'AuthorizationHeaderMalformed';
  }
  const names = signedHeaders.split(';');
  if (!names.includes('host') || !names.includes('x-amz-content-sha256')) return 'AccessDenied';
  const header = (name: string) => String(request.headers[name] ?? '');
  const bodyHash = sha256(body);
  if (header('x-amz-content-sha256') !== bodyHash) return 'XAmzContentSHA256Mismatch';
  const checksum = header('x-amz-checksum-sha256');
  if (request.method === 'PUT' && checksum !== Buffer.from(bodyHash, 'hex').toString('base64')) {
    return 'BadDigest';
  }
  const url = new URL(request.url ?? '/', 'http://s3');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&');
  const canonical = [
    request.method,
    url.pathname.split('/').map(decodeURIComponent).map(encode).join('/'),
    query,
    ...names.map((name) => `${name}:${header(name).trim().replaceAll(/ +/g, ' ')}`),
    '',
    signedHeaders,
    bodyHash,
  ].join('\n');
  const time = header('x-amz-date');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`;
  const key = [region, service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    hmac(`AWS4${S3_KEYS.secretAccessKey}`, date),
  );
  return hmac(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
