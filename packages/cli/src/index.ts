/** The face of `cli`: the command line as a function. */
export { main } from './main.ts';
