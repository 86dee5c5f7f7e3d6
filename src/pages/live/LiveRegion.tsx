/** The part of a page that is replaced in place when one of its topics moves. */
import type { ComponentChildren } from 'preact';
import type { Topic } from './topics.ts';
import type { Place } from './watcher.ts';

export interface LiveRegionProps {
  /** The style and the script that the region is made for: an open page may have older ones. */
  readonly assets: { readonly css: string; readonly js: string };
  readonly topics: readonly Topic[];
  readonly place: Place;
  readonly children: ComponentChildren;
}

export function LiveRegion({ assets, topics, place, children }: LiveRegionProps) {
  return (
    <div
      id="live"
      data-live={JSON.stringify(topics)}
      data-live-place={place}
      data-live-assets={`${assets.css} ${assets.js}`}
    >
      {children}
    </div>
  );
}
