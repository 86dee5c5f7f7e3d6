/** Reads the metrics from the admin port, as Prometheus does. */
import { ADMIN_TOKEN, type TestTallyhook } from '../support/tallyhook.ts';

export function metricsUrl({ consolePort }: TestTallyhook): string {
  return `http://127.0.0.1:${consolePort}/metrics`;
}

export async function readMetrics(tallyhook: TestTallyhook): Promise<string> {
  const response = await fetch(metricsUrl(tallyhook), {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  return response.text();
}

/** The value of a counter; 0 if it has never been incremented. */
export async function readCounter(tallyhook: TestTallyhook, counter: string): Promise<number> {
  const page = await readMetrics(tallyhook);
  const line = page.split('\n').find((one) => one.startsWith(`${counter} `));
  return line === undefined ? 0 : Number(line.slice(counter.length + 1));
}
