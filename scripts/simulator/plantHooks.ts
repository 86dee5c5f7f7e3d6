/** Hooks of the module loader that plant a bug while its module is loaded. */
import type { InitializeHook, LoadHook } from 'node:module';
import { type Plant, withPlant } from './plants.ts';

let plant: Plant | undefined;

export const initialize: InitializeHook<Plant> = (given) => {
  plant = given;
};

export const load: LoadHook = async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const file = plant?.file.replace(/\.ts$/, '.js');
  if (plant === undefined || file === undefined || !url.endsWith(`/${file}`)) return loaded;
  return { ...loaded, source: withPlant(plant, String(loaded.source)) };
};
