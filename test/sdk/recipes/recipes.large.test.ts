import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { RecipeWalk } from './recipe-walk.js';
import { RECIPES } from './recipes.js';

const isBuilt = existsSync(fileURLToPath(new URL('../../../sdk/react/dist/index.js', import.meta.url)));
const canRun = chromiumPath !== undefined && isBuilt;

/** Those of frameworks that must be installed first are walked by `../react/pages.large.test.ts`. */
describe.skipIf(!canRun)(
  titleNeeding('Chromium, or the built SDK,', canRun, 'the recipes of docs/ten-minutes.md'),
  () => {
    let recipes: RecipeWalk;
    beforeAll(async () => {
      recipes = await RecipeWalk.start();
    });
    afterAll(() => recipes?.stop());

    test.each(RECIPES)(
      '$title: nothing foreign before the choice, the tag after accepting, and nothing after a withdrawal',
      (recipe) => recipes.walk(recipe),
    );
  },
);
