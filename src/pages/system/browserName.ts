/** The name of a browser for people, from the text that it sends. Anyone can send any text: it proves nothing. */

const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  // Browsers name those that they resemble, so the order decides.
  [/\bEdgA?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\bFirefox\/(\d+)/, 'Firefox'],
  [/\b(?:Headless)?Chrome\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+).*\bSafari\//, 'Safari'],
];

const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** @returns such as `Firefox 140 on Linux`; the text itself if it is none of a known browser */
export function browserName(userAgent: string): string {
  for (const [pattern, name] of BROWSERS) {
    const [, version] = pattern.exec(userAgent) ?? [];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([one]) => one.test(userAgent))?.[1];
    return system === undefined ? `${name} ${version}` : `${name} ${version} on ${system}`;
  }
  return userAgent;
}
