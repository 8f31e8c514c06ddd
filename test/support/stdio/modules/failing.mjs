export default () => {
  throw new Error('out of luck');
};
