/**
 * The address of Redis in one URL, for each form in which Redis runs.
 *
 *     redis://user:password@host:port/db
 *     redis+sentinel://user:password@host:port,host:port/service/db?sentinel_password=…
 *     redis+cluster://user:password@host:port,host:port
 *
 * `rediss` in place of `redis` is TLS to every server that the URL names. User and password are those of
 * the servers that hold the jobs.
 */
export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

interface Servers {
  readonly hosts: readonly RedisHost[];
  readonly isTls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export type RedisAddress =
  /** ioredis reads the rest of this URL itself. */
  | { readonly form: 'single'; readonly url: string; readonly isTls: boolean }
  | (Servers & { readonly form: 'cluster' })
  | (Servers & {
      readonly form: 'sentinel';
      /** The name by which the Sentinels know the primary. */
      readonly service: string;
      readonly db: number;
      readonly sentinelUser: string | undefined;
      readonly sentinelPassword: string | undefined;
    })
  | { readonly form: 'invalid'; readonly problem: string };

export type RedisForm = Exclude<RedisAddress['form'], 'invalid'>;

const ADDRESS =
  /^(?<scheme>rediss?)(?:\+(?<form>sentinel|cluster))?:\/\/(?:(?<login>.*)@)?(?<hosts>[^/@]*)(?<path>\/.*)?$/i;
const HOST = /^(?<name>\[[0-9a-f:.]+\]|[^:[\]\s]+)(?::(?<port>\d{1,5}))?$/i;
const SENTINEL_PATH = /^\/(?<service>[^/]+)(?:\/(?<db>\d{1,4})?)?$/;

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

export function parseRedisUrl(url: string): RedisAddress {
  const [address = '', query = ''] = splitOnce(url, '?');
  const parts = ADDRESS.exec(address)?.groups;
  if (parts === undefined) {
    return invalid(
      'must begin with redis://, redis+sentinel:// or redis+cluster://, or with rediss for TLS',
    );
  }
  const { scheme = '', form, login, hosts: list = '', path = '' } = parts;
  const isTls = scheme.toLowerCase() === 'rediss';
  if (form === undefined) {
    return list.includes(',')
      ? invalid('names several servers: use redis+sentinel:// or redis+cluster://')
      : { form: 'single', url, isTls };
  }
  try {
    const isSentinel = form.toLowerCase() === 'sentinel';
    const hosts = hostsOf(list, isSentinel ? SENTINEL_PORT : REDIS_PORT);
    if (hosts === undefined) return invalid('must name its servers as host:port,host:port');
    const servers = { hosts, isTls, ...loginOf(login) };
    return isSentinel ? sentinelOf(servers, path, query) : clusterOf(servers, path, query);
  } catch {
    return invalid('must have special characters of user and password %-encoded');
  }
}

/** The hosts that a URL names, and whether its connections use TLS. */
export function serversOfRedisUrl(
  url: string | undefined,
): { readonly hosts: readonly string[]; readonly isTls: boolean } | undefined {
  if (url === undefined) return undefined;
  const parts = ADDRESS.exec(splitOnce(url, '?')[0] ?? '')?.groups;
  return {
    hosts: (hostsOf(parts?.hosts ?? '', REDIS_PORT) ?? []).map(({ host }) => host),
    isTls: parts?.scheme?.toLowerCase() === 'rediss',
  };
}

function sentinelOf(servers: Servers, path: string, query: string): RedisAddress {
  const found = SENTINEL_PATH.exec(path)?.groups;
  if (found?.service === undefined) {
    return invalid(
      'must end with the name by which the Sentinels know the primary: redis+sentinel://host:port/mymaster',
    );
  }
  const options = new URLSearchParams(query);
  const known = new Set(['sentinel_username', 'sentinel_password']);
  if ([...options.keys()].some((name) => !known.has(name))) {
    return invalid('has an option other than sentinel_username and sentinel_password');
  }
  return {
    form: 'sentinel',
    ...servers,
    service: decodeURIComponent(found.service),
    db: Number(found.db ?? 0),
    sentinelUser: options.get('sentinel_username') ?? undefined,
    sentinelPassword: options.get('sentinel_password') ?? undefined,
  };
}

function clusterOf(servers: Servers, path: string, query: string): RedisAddress {
  return /^\/?0?$/.test(path) && query === ''
    ? { form: 'cluster', ...servers }
    : invalid('must end after the servers: a Redis Cluster has one database, 0');
}

function invalid(problem: string): RedisAddress {
  return { form: 'invalid', problem };
}

function loginOf(login: string | undefined): Pick<Servers, 'user' | 'password'> {
  if (login === undefined || login === '') return { user: undefined, password: undefined };
  const [user = '', password] = splitOnce(login, ':').map(decodeURIComponent);
  return { user: user === '' ? undefined : user, password };
}

function hostsOf(list: string, defaultPort: number): readonly RedisHost[] | undefined {
  const hosts = list.split(',').flatMap((entry) => {
    const found = HOST.exec(entry.trim())?.groups;
    if (found?.name === undefined) return [];
    const port = Number(found.port ?? defaultPort);
    return port > 0 && port <= 65_535 ? [{ host: found.name.replace(/^\[|\]$/g, ''), port }] : [];
  });
  return hosts.length === list.split(',').length ? hosts : undefined;
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
