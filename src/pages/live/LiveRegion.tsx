/** The part of a page that is replaced in place when one of its topics moves. */
import type { ComponentChildren } from 'preact';
import type { Topic } from './topics.ts';
import type { Place } from './watcher.ts';

export interface LiveRegionProps {
  readonly topics: readonly Topic[];
  readonly place: Place;
  readonly children: ComponentChildren;
}

export function LiveRegion({ topics, place, children }: LiveRegionProps) {
  return (
    <div id="live" data-live={JSON.stringify(topics)} data-live-place={place}>
      {children}
    </div>
  );
}
