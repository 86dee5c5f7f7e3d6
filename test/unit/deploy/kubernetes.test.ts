/**
 * deploy/kubernetes, which is the chart in deploy/helm with its default values, names what the program
 * has. `scripts/check-deployment.sh` compares the two.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../../src/config/config.ts';
import { packageRoot, packageVersion } from '../../../src/platform/packageRoot.ts';
import {
  endsWithin,
  imageEntrypoint,
  isSetting,
  processes,
  procfile,
  readDeployed,
} from './program.ts';

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}
interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly [Container];
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: PodSpec } };
}

const text = readDeployed('kubernetes/tallyhook.yaml');
const manifests = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
const ofKind = (kind: string): readonly Manifest[] =>
  manifests.filter((manifest) => manifest.kind === kind);
const podOf = ({ spec }: Manifest): PodSpec => spec.template.spec;
const pods = [...ofKind('Deployment'), ...ofKind('Job')].map(podOf);

/** The pod of each role. */
const roles = new Map(
  ofKind('Deployment').map((one) => [one.metadata.name.replace('tallyhook-', ''), podOf(one)]),
);

const valueOfSetting = ({ env = [] }: Container, setting: string): string | undefined =>
  env.find(({ name }) => name === setting)?.value;

test('there is a Deployment for every process of the Procfile, and no other', () => {
  expect([...roles.keys()].toSorted()).toEqual(Object.keys(processes()).toSorted());
});

test.each(Object.entries(processes()))('%s runs the command of the Procfile', (name, command) => {
  expect(roles.get(name)?.containers[0].command?.join(' ')).toBe(command);
});

test('a Job of its own migrates, by the command of the Procfile', () => {
  const [job] = ofKind('Job').map(podOf);
  const args = job?.containers[0].args ?? [];
  expect([...imageEntrypoint(), ...args].join(' ')).toBe(procfile().release);
});

test('every setting exists, and none is a secret', () => {
  const names = pods.flatMap(({ containers: [{ env = [] }] }) => env.map(({ name }) => name));
  expect(names).toContain('DRAIN_SECONDS');
  expect(names.filter((name) => !isSetting(name))).toEqual([]);
  expect(names.filter((name) => /SECRET|TOKEN|PASSWORD|_KEY$|_URL$/.test(name))).toEqual([]);
  expect(ofKind('Secret')).toEqual([]);
});

describe.each([...roles])('%s', (role, { containers: [container], ...pod }) => {
  test('is probed at its health port', () => {
    const { startupProbe, livenessProbe, readinessProbe, ports = [] } = container;
    const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    expect(paths).toEqual(
      ['/healthz', '/healthz', '/readyz'].map((path) => ({ path, port: 'health' })),
    );
    const health = ports.find(({ name }) => name === 'health')?.containerPort;
    expect(valueOfSetting(container, 'METRICS_PORT')).toBe(String(health));
    expect(valueOfSetting(container, 'METRICS_HOST')).toBe('0.0.0.0');
  });

  test('is killed after it could have drained and closed', () => {
    const drainSeconds = Number(valueOfSetting(container, 'DRAIN_SECONDS'));
    expect(endsWithin(pod.terminationGracePeriodSeconds ?? 30, drainSeconds)).toBe(true);
  });

  test('has the ports of the program', () => {
    const { PORT, ADMIN_PORT } = SETTINGS.parse({});
    const others = (container.ports ?? []).filter(({ name }) => name !== 'health');
    const expected: Readonly<Record<string, object>> = {
      receiver: { name: 'webhooks', containerPort: PORT },
      console: { name: 'admin', containerPort: ADMIN_PORT },
    };
    const own = expected[role];
    expect(others).toEqual(own === undefined ? [] : [own]);
  });
});

test('no pod runs as root, writes to its root, has a capability or a token of the cluster', () => {
  expect(pods.length).toBe(Object.keys(procfile()).length);
  for (const pod of pods) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
  }
});

test('only roles with several pods have a budget: another would keep a node from being drained', () => {
  const budgets = ofKind('PodDisruptionBudget').map(({ metadata }) => metadata.name);
  const replicas = ofKind('Deployment').filter(
    ({ spec }) => (spec as unknown as { readonly replicas: number }).replicas > 1,
  );
  expect(budgets.toSorted()).toEqual(replicas.map(({ metadata }) => metadata.name).toSorted());
});

describe('the chart', () => {
  const chart = parse(readDeployed('helm/Chart.yaml')) as Readonly<Record<string, string>>;
  const values = parse(readDeployed('helm/values.yaml'), { merge: true }) as {
    readonly autoscaling: { readonly metric: string };
  };

  test('has the version of the program, and so does its image', () => {
    expect(chart).toMatchObject({ version: packageVersion(), appVersion: packageVersion() });
    for (const pod of pods) expect(pod.containers[0].image).toBe(`tallyhook:${packageVersion()}`);
  });

  test('scales by a metric of the program', () => {
    const gauges = readFileSync(join(packageRoot(), 'src/ledger/gauges.ts'), 'utf8');
    expect(gauges).toContain(`${values.autoscaling.metric}:`);
  });
});
