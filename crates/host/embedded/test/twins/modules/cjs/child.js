module.exports = { main: require.main === module, parent: module.parent && module.parent.filename.split("/").pop() , paths: module.paths.length > 0, cached: require.cache[__filename] === module }
